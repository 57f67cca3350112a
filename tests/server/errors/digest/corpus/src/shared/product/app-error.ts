export class AppError extends Error {
  readonly status: number;

  constructor(message: string, status = 500, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AppError';
    this.status = status;
  }

  static badRequest(message: string): AppError {
    return new AppError(message, 400);
  }
}

export class NotFoundError extends AppError {
  constructor(what: string, id: string) {
    super(`There is no ${what} ${id}.`, 404);
    this.name = new.target.name;
  }
}
