// Imitates a package from a registry.
export function parseMoney(text) {
  if (!/^\d/.test(text)) throw new Error('Amount must start with a digit: "' + text + '"');
  const [amount, currency] = text.split(' ');
  if (!currency) throw new Error('Currency is missing in "' + text + '"');
  return { amount: Number(amount), currency };
}

export function connect(host) {
  return Promise.reject(Object.assign(new Error('connect ECONNREFUSED ' + host + ':5432'), { code: 'ECONNREFUSED' }));
}
