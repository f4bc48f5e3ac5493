//! Spaces and who may use them: members, their tokens, the audit and retention.

mod audit;
mod authorized_space;
mod error;
mod member_rows;
mod sign_in;
mod spaces;
mod token_rows;
mod token_text;

pub use audit::{AuditEvent, AuditFilter, AuditRow};
pub use authorized_space::AuthorizedSpace;
pub use error::MemberError;
pub use member_rows::{MemberLimits, MemberRow};
pub use sign_in::{SignInError, SignedIn, TokenProblem};
pub use spaces::SpaceRow;
pub use token_rows::{NewToken, TokenRow, TokenTerms};
pub use token_text::{InvalidToken, TokenText};
