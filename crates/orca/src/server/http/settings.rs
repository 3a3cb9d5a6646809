//! The settings of the process.

use super::Front;
use super::problem::Problems;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// One setting.
#[derive(Serialize, ToSchema)]
pub struct Setting {
    /// Section and name: `http.listen`.
    setting: String,
    /// Its value; that of a password is not told.
    value: String,
    /// Where the value comes from.
    origin: String,
    /// What it does.
    help: String,
}

/// Every setting with its value and where that comes from
#[utoipa::path(
    get, path = "/v1/settings", tag = "server", operation_id = "list_settings",
    responses((status = 200, description = "The settings, by name.", body = Vec<Setting>), Problems)
)]
pub(super) async fn list(State(front): State<Arc<Front>>) -> Json<Vec<Setting>> {
    let all = front.server.settings().shown().map(|(setting, value, origin)| Setting {
        setting: setting.key.to_string(),
        value: value.to_string(),
        origin: origin.to_string(),
        help: setting.help.to_string(),
    });
    Json(all.collect())
}
