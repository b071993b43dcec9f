//! Connections to answers: a thread for each connection, the script handed out in the order of arrival.

use std::fs::File;
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

use crate::answer;
use crate::http::{self, Received, Request};
use crate::request::{self, Offer};
use crate::scenario::{Answer, End, Repeat, Scenario, Step};

/// The script and how far it has come.
pub(crate) struct Server {
    scenario: Scenario,
    progress: Mutex<Progress>,
}

struct Progress {
    /// Requests so far, of any kind.
    requests: usize,
    /// Requests so far that took an answer from the script, or found it used up.
    answers: usize,
    log: Option<File>,
}

impl Server {
    pub(crate) fn new(scenario: Scenario, log: Option<File>) -> Server {
        Server { scenario, progress: Mutex::new(Progress { requests: 0, answers: 0, log }) }
    }

    /// Serves from now on, in threads of its own; a fault of the server itself (not of a connection) is sent to
    /// `ended`.
    pub(crate) fn start(self, listener: TcpListener, ended: Sender<io::Result<()>>) {
        let server = Arc::new(self);
        thread::spawn(move || {
            loop {
                match listener.accept() {
                    Ok((stream, _)) => {
                        let (server, ended) = (Arc::clone(&server), ended.clone());
                        thread::spawn(move || server.connection(stream, &ended));
                    }
                    // The other side was gone before it was accepted.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(error) => {
                        let _ = ended.send(Err(error));
                        return;
                    }
                }
            }
        });
    }

    /// Serves one connection. That Codex leaves early is part of the game and no fault of anybody.
    fn connection(&self, mut stream: TcpStream, ended: &Sender<io::Result<()>>) {
        let served = match http::read(&mut stream) {
            Ok(Received::Request(request)) => match self.count(&request) {
                Ok(turn) => self.reply(&mut stream, turn),
                Err(error) => {
                    let _ = ended.send(Err(io::Error::new(error.kind(), format!("log: {error}"))));
                    return;
                }
            },
            Ok(Received::Odd(status, why)) => send_error(&mut stream, status, why),
            Ok(Received::Nothing) => return,
            Err(error) => Err(error),
        };
        if served.is_ok() {
            let _ = http::close(&mut stream);
        }
    }

    /// Counts and logs a request, and gives it its place in the script. One lock for all three, so that the log has
    /// the order of the answers.
    fn count(&self, request: &Request) -> io::Result<Turn> {
        let body: Option<Value> = serde_json::from_slice(&request.body).ok();
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.requests += 1;
        let note = request::note(progress.requests, &request.method, &request.path, body.as_ref());
        if let Some(log) = &mut progress.log {
            log.write_all(format!("{note}\n").as_bytes())?;
        }
        Ok(match (request.method.as_str(), request.path.as_str(), body) {
            ("POST", "/v1/responses", Some(body)) => {
                progress.answers += 1;
                Turn::Answer { number: progress.answers, body }
            }
            ("POST", "/v1/responses", None) => Turn::Error(400, "the body is not JSON"),
            ("GET", "/v1/models", _) => Turn::Models,
            (_, "/v1/responses" | "/v1/models", _) => Turn::Error(405, "wrong method for this path"),
            _ => Turn::Error(404, "no such path"),
        })
    }

    /// Answer number `number` (from 1), or what stands for it when the script is used up.
    fn answer(&self, number: usize) -> Option<&Answer> {
        let answers = &self.scenario.answers;
        answers.get(number - 1).or_else(|| match self.scenario.repeat {
            Repeat::No => None,
            Repeat::Last => answers.last(),
            Repeat::All => answers.get((number - 1) % answers.len()),
        })
    }

    fn reply(&self, stream: &mut TcpStream, turn: Turn) -> io::Result<()> {
        match turn {
            // `data` is OpenAI's form, `models` the one that Codex reads.
            Turn::Models => send_json(stream, 200, &json!({"object": "list", "data": [], "models": []})),
            Turn::Error(status, why) => send_error(stream, status, why),
            Turn::Answer { number, body } => match self.answer(number) {
                Some(Answer::Http { wait, status, body }) => {
                    thread::sleep(*wait);
                    match body {
                        Value::String(text) => http::send(stream, *status, "text/plain", text),
                        body => send_json(stream, *status, body),
                    }
                }
                Some(Answer::Stream { steps, end }) => Reply::new(stream, number, &body).stream(steps, end),
                None => {
                    let length = self.scenario.answers.len();
                    let why = format!("the scenario is used up: request {number}, but {length} answers");
                    send_error(stream, 500, &why)
                }
            },
        }
    }
}

/// What a request gets.
enum Turn {
    /// Answer `number` (from 1) of the script, to this request.
    Answer {
        number: usize,
        body: Value,
    },
    Models,
    Error(u16, &'static str),
}

fn send_json(stream: &mut TcpStream, status: u16, body: &Value) -> io::Result<()> {
    http::send(stream, status, "application/json", &body.to_string())
}

fn send_error(stream: &mut TcpStream, status: u16, why: &str) -> io::Result<()> {
    send_json(stream, status, &json!({"error": {"message": format!("loopback-model: {why}")}}))
}

/// A stream of events on its way.
struct Reply<'a> {
    stream: &'a mut TcpStream,
    offer: Offer,
    /// The id of the response.
    id: String,
    /// How many items the request carried.
    history: usize,
    started: bool,
    items: usize,
}

impl<'a> Reply<'a> {
    fn new(stream: &'a mut TcpStream, number: usize, body: &Value) -> Reply<'a> {
        let history = body["input"].as_array().map_or(0, Vec::len);
        Reply {
            stream,
            offer: Offer::of(body),
            id: format!("resp_{number}"),
            history,
            started: false,
            items: 0,
        }
    }

    fn stream(mut self, steps: &[Step], end: &End) -> io::Result<()> {
        for step in steps {
            match step {
                Step::Wait(time) => thread::sleep(*time),
                Step::Start => self.start()?,
                Step::Item(item) => {
                    // The history grows with every request of a thread, across processes and resumes too, where a
                    // counter of our own would begin again.
                    let id = format!("model_{}_{}", self.history, self.items);
                    let item = answer::item(item, &self.offer, &id);
                    self.start()?;
                    self.event(&answer::item_done(self.items, item))?;
                    self.items += 1;
                }
            }
        }
        match end {
            End::Completed(usage) => {
                self.start()?;
                self.event(&answer::completed(&self.id, *usage))
            }
            End::Failed { code, message } => {
                self.start()?;
                self.event(&answer::failed(&self.id, code, message))
            }
            End::Cut => Ok(()),
            End::Hang => http::until_closed(self.stream),
        }
    }

    /// Sends what comes before the first item, once.
    fn start(&mut self) -> io::Result<()> {
        if self.started {
            return Ok(());
        }
        self.started = true;
        http::send_event_head(self.stream)?;
        self.event(&answer::created(&self.id))
    }

    fn event(&mut self, event: &str) -> io::Result<()> {
        self.stream.write_all(event.as_bytes())
    }
}
