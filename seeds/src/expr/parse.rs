//! Owns the parsing of tokens into a syntax tree, by the operator precedence of CEL.

use crate::expr::ast::{Ast, AstKind};
use crate::expr::error::ExprError;
use crate::expr::lexer::{PlacedToken, Token, tokens};
use crate::expr::operator::Operator;
use crate::value::Value;

/// Maximum depth of recursion: brackets, and the right sides of conditionals.
const MAX_RECURSION: usize = 64;

/// Parses text.
///
/// # Errors
/// Returns an error if the text is no expression.
pub(super) fn parse(source: &str) -> Result<Ast, ExprError> {
    let mut parser = Parser { source, tokens: tokens(source)?.into_iter().peekable(), depth: 0 };
    let root = parser.expression()?;
    if parser.tokens.peek().is_some() {
        return Err(parser.unexpected());
    }
    Ok(root)
}

struct Parser<'t> {
    source: &'t str,
    tokens: std::iter::Peekable<std::vec::IntoIter<PlacedToken>>,
    depth: usize,
}

/// Returns the precedence of an operator. The lowest is 1.
const fn precedence(operator: Operator) -> u8 {
    match operator {
        Operator::Or => 1,
        Operator::And => 2,
        Operator::Equal
        | Operator::NotEqual
        | Operator::Less
        | Operator::LessOrEqual
        | Operator::Greater
        | Operator::GreaterOrEqual
        | Operator::In => 3,
        Operator::Add | Operator::Subtract => 4,
        Operator::Multiply | Operator::Divide | Operator::Remainder => 5,
    }
}

fn node(kind: AstKind, offset: usize) -> Ast {
    Ast { kind, offset }
}

impl Parser<'_> {
    /// Returns the error that the next token is not allowed here.
    fn unexpected(&mut self) -> ExprError {
        let Some(PlacedToken { start, .. }) = self.tokens.peek() else {
            let message = "the expression ends too early; expected an operand".to_owned();
            return ExprError { offset: self.source.len(), message };
        };
        let there: String = self.source.get(*start..).unwrap_or_default().chars().take(20).collect();
        let there = there.split_whitespace().next().unwrap_or_default();
        let message =
            format!("found `{there}` where an operator or the end was expected, or an operand is missing");
        ExprError { offset: *start, message }
    }

    /// Takes a sign if it comes next, and returns its offset.
    fn take(&mut self, sign: u8) -> Option<usize> {
        self.tokens.next_if(|placed| placed.token == Token::Sign(sign)).map(|placed| placed.start)
    }

    fn expect(&mut self, sign: u8) -> Result<usize, ExprError> {
        match self.take(sign) {
            Some(start) => Ok(start),
            None => Err(self.unexpected()),
        }
    }

    fn expression(&mut self) -> Result<Ast, ExprError> {
        if self.depth >= MAX_RECURSION {
            let offset = self.tokens.peek().map_or(self.source.len(), |placed| placed.start);
            let message = "the expression is nested too deeply; split it with `let`".to_owned();
            return Err(ExprError { offset, message });
        }
        self.depth += 1;
        let mut found = self.operation(1)?;
        if let Some(offset) = self.take(b'?') {
            let yes = self.operation(1)?;
            self.expect(b':')?;
            let no = self.expression()?;
            found = node(AstKind::Conditional(Box::new(found), Box::new(yes), Box::new(no)), offset);
        }
        self.depth -= 1;
        Ok(found)
    }

    /// Parses operands and the operators between them that have at least this precedence.
    fn operation(&mut self, least: u8) -> Result<Ast, ExprError> {
        let mut left = self.operand()?;
        // Operands and operator offsets of a chain of `&&` or of `||`.
        let mut chain: Option<(Operator, Vec<Ast>, Vec<usize>)> = None;
        while let Some((operator, offset)) = self.operator(least) {
            let right = self.operation(precedence(operator) + 1)?;
            let joins = matches!(operator, Operator::And | Operator::Or);
            match &mut chain {
                Some((open, operands, offsets)) if *open == operator => {
                    operands.push(right);
                    offsets.push(offset);
                    continue;
                }
                _ => {}
            }
            if let Some((open, operands, offsets)) = chain.take() {
                left = balanced(open, operands, &offsets);
            }
            if joins {
                chain = Some((operator, vec![left, right], vec![offset]));
                left = node(AstKind::Literal(Value::Null), offset);
            } else {
                left = node(AstKind::Binary(operator, Box::new(left), Box::new(right)), offset);
            }
        }
        Ok(match chain {
            Some((open, operands, offsets)) => balanced(open, operands, &offsets),
            None => left,
        })
    }

    fn operator(&mut self, least: u8) -> Option<(Operator, usize)> {
        let binds =
            |token: &Token| matches!(token, Token::Operator(operator) if precedence(*operator) >= least);
        let placed = self.tokens.next_if(|placed| binds(&placed.token))?;
        match placed.token {
            Token::Operator(operator) => Some((operator, placed.start)),
            _ => None,
        }
    }

    /// Parses an operand with its prefixes, members, calls and positions.
    fn operand(&mut self) -> Result<Ast, ExprError> {
        if let Some(offset) = self.take(b'!') {
            return Ok(node(AstKind::Not(Box::new(self.operand()?)), offset));
        }
        let minus = |placed: &PlacedToken| placed.token == Token::Operator(Operator::Subtract);
        if let Some(PlacedToken { start, .. }) = self.tokens.next_if(minus) {
            return self.negated(start);
        }
        let first = self.primary()?;
        self.rest_of(first)
    }

    /// Parses the operand of a `-`. A number includes the sign.
    fn negated(&mut self, start: usize) -> Result<Ast, ExprError> {
        let number = self.tokens.next_if(|placed| {
            use Token::{LeastInteger, Literal};
            matches!(placed.token, LeastInteger | Literal(Value::Integer(_) | Value::Number(_)))
        });
        let value = match number.map(|placed| placed.token) {
            Some(Token::LeastInteger) => Value::Integer(i64::MIN),
            Some(Token::Literal(Value::Integer(value))) => Value::Integer(-value),
            Some(Token::Literal(Value::Number(value))) => Value::Number(-value),
            _ => return Ok(node(AstKind::Negate(Box::new(self.operand()?)), start)),
        };
        self.rest_of(node(AstKind::Literal(value), start))
    }

    fn rest_of(&mut self, mut found: Ast) -> Result<Ast, ExprError> {
        loop {
            if let Some(offset) = self.take(b'.') {
                let Some(Token::Name(name)) = self
                    .tokens
                    .next_if(|placed| matches!(placed.token, Token::Name(_)))
                    .map(|placed| placed.token)
                else {
                    return Err(self.unexpected());
                };
                let inner = Box::new(found);
                found = match self.take(b'(') {
                    Some(_) => node(AstKind::Method(inner, name, self.items(b')')?), offset),
                    None => node(AstKind::Member(inner, name), offset),
                };
            } else if let Some(offset) = self.take(b'[') {
                let position = self.expression()?;
                self.expect(b']')?;
                found = node(AstKind::Item(Box::new(found), Box::new(position)), offset);
            } else {
                return Ok(found);
            }
        }
    }

    fn primary(&mut self) -> Result<Ast, ExprError> {
        use Token::{Literal, Name, Sign};
        let begins = |placed: &PlacedToken| matches!(placed.token, Literal(_) | Name(_) | Sign(b'(' | b'['));
        let Some(PlacedToken { token, start }) = self.tokens.next_if(begins) else {
            return Err(match self.tokens.peek() {
                Some(PlacedToken { token: Token::LeastInteger, start }) => {
                    ExprError { offset: *start, message: "the integer does not fit into 64 bits".to_owned() }
                }
                _ => self.unexpected(),
            });
        };
        let kind = match token {
            Token::Literal(value) => AstKind::Literal(value),
            Token::Name(name) => match self.take(b'(') {
                Some(_) => AstKind::Call(name, self.items(b')')?),
                None => AstKind::Name(name),
            },
            Token::Sign(b'[') => AstKind::List(self.items(b']')?),
            _ => {
                let inner = self.expression()?;
                self.expect(b')')?;
                return Ok(inner);
            }
        };
        Ok(node(kind, start))
    }

    /// Parses expressions separated by commas, up to a bracket.
    fn items(&mut self, end: u8) -> Result<Vec<Ast>, ExprError> {
        let mut items = Vec::new();
        if self.take(end).is_some() {
            return Ok(items);
        }
        loop {
            items.push(self.expression()?);
            if self.take(b',').is_none() {
                self.expect(end)?;
                return Ok(items);
            }
        }
    }
}

/// Returns a chain of one operator as a tree of minimum depth, so that a long condition is not a deep one.
fn balanced(operator: Operator, mut operands: Vec<Ast>, offsets: &[usize]) -> Ast {
    let Some(offset) = offsets.get(offsets.len() / 2) else {
        return operands.pop().unwrap_or_else(|| node(AstKind::Literal(Value::Null), 0));
    };
    let middle = offsets.len() / 2;
    let right = operands.split_off(middle + 1);
    let left = balanced(operator, operands, &offsets[..middle]);
    let right = balanced(operator, right, &offsets[middle + 1..]);
    node(AstKind::Binary(operator, Box::new(left), Box::new(right)), *offset)
}
