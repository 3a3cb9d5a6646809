//! How a client is let in: what it speaks, who it is, and which database it wants.
//!
//! A database is a catalog. `orca`, `postgres`, the user's own name and none at all stand for the only catalog there is, unless
//! there is one of that name.

use super::cancel::{Key, Keys};
use super::error::{PgError, Trouble};
use super::frames::{Body, Input, Output, STARTUP_BYTES_MAX, Unread, put_text};
use super::variables::Variables;
use crate::server::Server;
use bytes::BufMut;
use env::{Chance, OsChance};
use pgwire::api::auth::Password;
use pgwire::api::auth::sasl::scram::{SCRAM_ITERATIONS, ScramServerAuth, gen_salted_password};

const CANCEL: i32 = 80_877_102;
const TLS: i32 = 80_877_103;
const GSS: i32 = 80_877_104;

/// The one way to log in.
const MECHANISM: &str = "SCRAM-SHA-256";

/// A client that was let in.
pub(super) struct Client {
    pub(super) user: String,
    /// The catalog of bare names, if it named one.
    pub(super) database: Option<String>,
    pub(super) variables: Variables,
}

impl From<Unread> for Trouble {
    fn from(unread: Unread) -> Trouble {
        match unread {
            Unread::Gone => Trouble::Gone,
            Unread::Refused(error) => Trouble::Told(error),
        }
    }
}

/// Lets a client in; `None` if it only wanted another one's query to end.
pub(super) async fn let_in(
    server: &Server,
    keys: &Keys,
    input: &mut Input,
    output: &mut Output,
) -> Result<Option<Client>, Trouble> {
    let mut body = loop {
        let (code, mut body) = input.startup().await?;
        match code {
            // Neither is spoken here; the client goes on without, or goes.
            TLS | GSS => {
                output.buffer.put_u8(b'N');
                output.flush().await?;
            }
            CANCEL => {
                keys.cancel(Key { pid: body.i32()?, secret: body.i32()? });
                return Ok(None);
            }
            code if code >> 16 == 3 => {
                if code & 0xffff != 0 {
                    speak_older(&body, output)?;
                }
                break body;
            }
            other => {
                let text = format!("only protocol 3 is spoken: version=`{}.{}`", other >> 16, other & 0xffff);
                return Err(PgError::fatal("0A000", text).into());
            }
        }
    };
    let (mut user, mut database, mut variables) = (String::new(), String::new(), Variables::default());
    loop {
        let name = body.text()?;
        if name.is_empty() {
            break;
        }
        let value = body.text()?;
        match name.as_str() {
            "user" => user = value,
            "database" => database = value,
            "options" => variables.set_options(&value),
            name if name.starts_with("_pq_.") || name == "replication" => {}
            // A client may set what is not known here when it connects.
            name => drop(variables.set(name, Some(value))),
        }
    }
    if user.is_empty() {
        return Err(PgError::fatal("28000", "a client names its user").into());
    }
    log_in(server, &user, input, output).await?;
    let catalogs = server.orca().queries().catalog().catalogs();
    let own = catalogs.into_iter().find(|catalog| catalog.eq_ignore_ascii_case(&database));
    if own.is_none() && !matches!(database.as_str(), "" | "orca" | "postgres") && database != user {
        return Err(PgError::fatal("3D000", format!("no such database: database=`{database}`")).into());
    }
    variables.set_session(&user);
    Ok(Some(Client { user, database: own, variables }))
}

/// Says that a newer protocol is not spoken, and which of its options are not known.
fn speak_older(body: &Body, output: &mut Output) -> Result<(), PgError> {
    let mut body = Body(body.0.clone());
    let mut unknown = vec![];
    loop {
        let name = body.text()?;
        if name.is_empty() {
            break;
        }
        body.text()?;
        if name.starts_with("_pq_.") {
            unknown.push(name);
        }
    }
    output.frame(b'v', |frame| {
        frame.put_i32(3 << 16);
        frame.put_i32(unknown.len() as i32);
        unknown.iter().for_each(|name| put_text(frame, name));
    });
    Ok(())
}

/// Asks for the password, if there is one.
async fn log_in(server: &Server, user: &str, input: &mut Input, output: &mut Output) -> Result<(), Trouble> {
    let (known, password) = (server.settings().text("login.user"), server.settings().text("login.password"));
    if password.is_empty() {
        return Ok(());
    }
    let refused = || PgError::fatal("28P01", format!("password authentication failed: user=`{user}`"));
    output.frame(b'R', |body| {
        body.put_i32(10);
        put_text(body, MECHANISM);
        body.put_u8(0);
    });
    output.flush().await?;
    let mut body = password_frame(input).await?;
    if body.text()? != MECHANISM {
        return Err(PgError::fatal("28000", format!("the way to log in is {MECHANISM}")).into());
    }
    let first = body.value()?.ok_or_else(refused)?;
    let salt: Vec<u8> = [OsChance.next(), OsChance.next()].iter().flat_map(|part| part.to_be_bytes()).collect();
    // An unknown user is asked as a known one is, and is refused whatever it answers.
    let password = if user == known { password.to_string() } else { format!("{:x}", OsChance.next()) };
    let salted = gen_salted_password(&password, &salt, SCRAM_ITERATIONS);
    let scram = ScramServerAuth::new();
    let asked = scram.on_client_first_message(&first, Password::new(Some(salt), salted));
    let (question, waiting) = asked.map_err(|_| refused())?;
    output.frame(b'R', |body| {
        body.put_i32(11);
        body.put_slice(question.as_bytes());
    });
    output.flush().await?;
    let answer = password_frame(input).await?;
    let proof = waiting.on_client_final_message(&answer.0).map_err(|_| refused())?;
    output.frame(b'R', |body| {
        body.put_i32(12);
        body.put_slice(proof.as_bytes());
    });
    Ok(())
}

async fn password_frame(input: &mut Input) -> Result<Body, Trouble> {
    match input.frame(STARTUP_BYTES_MAX).await? {
        (b'p', body) => Ok(Body(body)),
        _ => Err(PgError::protocol("a password is wanted").into()),
    }
}
