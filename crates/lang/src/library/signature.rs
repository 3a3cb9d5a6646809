//! The parameters of a function, read from the line that the manual shows.

use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use std::sync::Arc;

/// One parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// May it be left out?
    pub optional: bool,
}

/// The parameters of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    function: &'static str,
    /// In order.
    pub parameters: Vec<Parameter>,
    /// May more arguments follow, like the last one?
    pub open: bool,
}

impl Function {
    /// The parameters.
    pub fn signature(&self) -> Signature {
        let mut signature = Signature { function: self.name, parameters: vec![], open: false };
        for part in self.parameters.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (part, open) = part.strip_suffix("...").map_or((part, false), |part| (part, true));
            signature.open |= open;
            if part.is_empty() {
                continue;
            }
            let inner = part.strip_prefix('[').and_then(|part| part.strip_suffix(']'));
            let name = inner.unwrap_or(part).split('=').next().expect("a first part").trim();
            signature.parameters.push(Parameter { name, optional: inner.is_some() });
        }
        signature
    }
}

impl Signature {
    /// Does the argument at this place have a value for each row? Else it is a setting.
    pub fn by_row(&self, place: usize) -> bool {
        let parameter = self.parameters.get(place).or(self.parameters.last());
        parameter.is_some_and(|parameter| parameter.name.starts_with(char::is_uppercase))
    }

    /// The name of the parameter at a place.
    pub fn name(&self, place: usize) -> &'static str {
        self.parameters.get(place).or(self.parameters.last()).map_or("", |parameter| parameter.name)
    }

    /// The place of the parameter of this name.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.name.eq_ignore_ascii_case(name))
    }

    /// Puts the arguments of a call at their places and checks that none is missing or too many.
    pub fn arrange<T>(&self, mut given: Vec<Option<T>>, named: Vec<(Arc<str>, T)>) -> Result<Vec<Option<T>>> {
        if !self.open && given.len() > self.parameters.len() {
            return Err(self.wrong_count(given.len() + named.len()));
        }
        for (name, value) in named {
            let Some(place) = self.place(&name) else {
                let error = Diagnostic::new(format!("{} has no such parameter: parameter=`{name}`", self.function));
                return Err(error.suggest(&name, self.parameters.iter().map(|parameter| parameter.name)));
            };
            while given.len() <= place {
                given.push(None);
            }
            if given[place].replace(value).is_some() {
                return Err(Diagnostic::new(format!("{}: argument given twice: parameter=`{name}`", self.function)));
            }
        }
        while let Some(None) = given.last() {
            given.pop();
        }
        for (place, parameter) in self.parameters.iter().enumerate().filter(|(_, parameter)| !parameter.optional) {
            match given.get(place) {
                Some(Some(_)) => {}
                Some(None) => {
                    let name = parameter.name;
                    return Err(Diagnostic::new(format!("{} lacks an argument: parameter=`{name}`", self.function)));
                }
                None => return Err(self.wrong_count(given.iter().flatten().count())),
            }
        }
        Ok(given)
    }

    fn wrong_count(&self, found: usize) -> Diagnostic {
        let most = self.parameters.len();
        let least = self.parameters.iter().filter(|parameter| !parameter.optional).count();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let expected = match (least, most) {
            _ if self.open => format!("{least} or more arguments"),
            (least, most) if least == most => format!("{most} argument{}", plural(most)),
            (least, most) => format!("{least} to {most} arguments"),
        };
        let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name).collect();
        let error = Diagnostic::new(format!("{} expects {expected}: found=`{found}`", self.function));
        error.help(format!("its parameters are {}", names.join(", ")))
    }
}
