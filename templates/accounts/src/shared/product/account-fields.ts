import * as z from 'zod';

/** An email address in lower case, so that each has one account. */
const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(200, 'Use at most 200 characters.')
  .pipe(z.email('Enter an email address, such as ada@example.com.'));

const Password = z.string().min(1, 'Enter your password.').max(1000, 'Use at most 1,000 characters.');

const NewPassword = Password.min(12, 'Use at least 12 characters.');

export const EmailFields = z.object({ email: Email });
export const SignInFields = z.object({ email: Email, password: Password });
export const SignUpFields = z.object({ email: Email, password: NewPassword.optional() });
export const NewPasswordFields = z.object({ password: NewPassword });
export const ChangePasswordFields = z.object({ password: Password, newPassword: NewPassword });
export const DeleteAccountFields = z.object({ password: Password });
