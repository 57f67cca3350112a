/** An error of a start whose message says what to do. It is printed without a stack. */
export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}
