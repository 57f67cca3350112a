import { connect } from 'node:net';

/**
 * Sends requests over keep-alive connections, with as many connections as needed. It reads only the status and the end of
 * a response, so that one process can send several times as many requests as a server can answer.
 */
export function createPool({ port, maxConnections = 4000, patience = 15_000 }) {
  const idle = [];
  const open = new Set();

  function connectOne() {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const connection = { socket, text: '', answer: undefined };
    open.add(connection);
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      connection.text += chunk;
      const { answer, text } = connection;
      if (!answer || !isWhole(text)) return;
      connection.answer = undefined;
      connection.text = '';
      clearTimeout(answer.timer);
      idle.push(connection);
      answer.resolve({ status: Number(text.slice(9, 12)), head: text.slice(0, text.indexOf('\r\n\r\n')), text });
    });
    socket.on('error', (error) => end(error.code));
    socket.on('close', () => end('closed'));
    return connection;

    function end(why) {
      if (!open.delete(connection)) return;
      const place = idle.indexOf(connection);
      if (place >= 0) idle.splice(place, 1);
      clearTimeout(connection.answer?.timer);
      connection.answer?.resolve({ status: 0, head: why, text: '' });
      socket.destroy();
    }
  }

  return {
    get size() {
      return open.size;
    },
    /** @returns the response, with status 0 if there was none */
    ask(path, headers = '') {
      const connection = idle.pop() ?? (open.size < maxConnections ? connectOne() : undefined);
      if (!connection) return Promise.resolve({ status: 0, head: 'no connection is free', text: '' });
      return new Promise((resolve) => {
        const timer = setTimeout(() => connection.socket.destroy(new Error('patience')), patience);
        connection.answer = { resolve, timer };
        connection.socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}\r\n`);
      });
    },
    close() {
      for (const { socket } of open) socket.destroy();
    },
  };
}

function isWhole(text) {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head));
  if (length) return text.length - head - 4 >= Number(length[1]);
  return text.endsWith('\r\n0\r\n\r\n') || /^HTTP\/1\.1 (?:204|304) /.test(text);
}
