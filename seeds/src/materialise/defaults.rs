//! What to make up for a field that does not say: by its type, its format, its name and the resource it is of.

use super::maker::{Maker, Piece, Place, day_span, range};
use super::moment::{Bound, Span};
use super::pattern::Generator;
use super::text::Provider;
use crate::doc::FieldDoc;
use crate::keys::Code;
use crate::schema::{Schema, Type};
use crate::value::{Decimal, Time, Value};

const DAY: i64 = 86_400;

/// The maker for a field without `fake`. `doc` is none for items and members.
pub(super) fn maker(schema: &Schema, doc: Option<&FieldDoc>, place: &Place<'_>) -> Maker {
    maker_at(schema, doc, place, place.name, 0)
}

fn maker_at(schema: &Schema, doc: Option<&FieldDoc>, place: &Place<'_>, name: &str, depth: u32) -> Maker {
    let words = words(name);
    match &schema.kind {
        Type::Enum(values) => Maker::Deal(values.iter().cloned().map(Value::String).collect()),
        Type::Boolean => Maker::Deal(booleans(&words)),
        Type::Reference { resource, .. } => Maker::Reference(*resource),
        Type::String => text(schema, place, name, &words),
        Type::Integer | Type::Number | Type::Decimal { .. } => number(schema, place, &words),
        Type::Date | Type::DateTime | Type::Time => moment(schema, place, name, &words),
        Type::List(item) if depth < 8 => {
            let of = maker_at(item, None, place, &singular(name), depth + 1);
            let many = if ends(&words, &["ingredient", "step"]) { 4 } else { 1 };
            let least = schema.limits.min_length.map_or(many, u64::from);
            let most = schema.limits.max_length.map_or(u64::MAX, u64::from).min(least + 3);
            Maker::List { of: Box::new(of), min: least, max: most.max(least) }
        }
        Type::Object(members) if depth < 8 => {
            let member = |member: &crate::schema::ObjectField| {
                let of = doc.and_then(|doc| doc.fields.get(&*member.name));
                let made = match of.and_then(|of| of.fake.as_ref()) {
                    Some(fake) => super::maker::read(fake, &member.schema, place).ok(),
                    None => None,
                };
                let made =
                    made.unwrap_or_else(|| maker_at(&member.schema, of, place, &member.name, depth + 1));
                (member.name.clone(), member.schema.clone(), member.optional, made)
            };
            Maker::Object(members.iter().map(member).collect())
        }
        Type::List(_) | Type::Object(_) | Type::Any => Maker::Constant(match schema.kind {
            Type::List(_) => Value::List([].into()),
            Type::Object(_) => Value::object([]),
            _ => Value::Null,
        }),
    }
}

/// Names of fields, whole or the last words, and what they hold. The first row that fits counts.
const TEXTS: &[(&[&str], &str)] = &[
    (&["first_name", "given_name", "forename", "nickname"], "first_name"),
    (&["last_name", "family_name", "surname"], "last_name"),
    (&["username", "user_name", "login", "handle", "screen_name"], "username"),
    (&["email", "e_mail", "email_address", "mail"], "email"),
    (&["phone", "phone_number", "mobile", "telephone", "tel", "fax"], "phone"),
    (&["password", "secret", "passphrase"], "password"),
    (&["country_code", "country_iso"], "country_code"),
    (&["country", "country_name", "country_of_origin"], "country"),
    (&["nationality"], "nationality"),
    (&["city", "town", "hometown", "birthplace", "destination", "origin", "place_of_birth"], "city"),
    (&["region", "state", "province", "county"], "region"),
    (&["neighbourhood", "neighborhood", "district", "quarter"], "neighbourhood"),
    (&["postcode", "zip", "zip_code", "postal_code", "zipcode"], "postcode"),
    (&["street", "street_name"], "street_name"),
    (&["address", "street_address", "address_line", "address_line_1"], "street_address"),
    (&["location", "meeting_point", "pickup_point"], "landmark_name"),
    (&["timezone", "time_zone", "tz"], "timezone"),
    (
        &[
            "image",
            "photo",
            "avatar",
            "thumbnail",
            "poster",
            "picture",
            "cover",
            "logo",
            "image_url",
            "photo_url",
            "avatar_url",
            "cover_url",
            "poster_url",
            "thumbnail_url",
            "logo_url",
            "poster_path",
            "icon",
            "banner",
        ],
        "image_url",
    ),
    (&["url", "website", "link", "homepage", "uri", "href", "web_site", "site"], "url"),
    (&["domain", "domain_name", "hostname", "host_name"], "domain_name"),
    (&["ip", "ip_address", "ipv4"], "ip"),
    (&["mac", "mac_address"], "mac_address"),
    (&["user_agent"], "user_agent"),
    (&["uuid", "guid"], "uuid"),
    (&["slug", "permalink"], "slug"),
    (&["isbn", "isbn13"], "isbn"),
    (&["iban", "bank_account"], "iban"),
    (&["licence_plate", "license_plate", "plate", "registration", "plate_number"], "licence_plate"),
    (&["hex", "hex_colour", "hex_color"], "hex_colour"),
    (&["colour", "color"], "colour"),
    (&["language_code", "locale", "lang", "original_language"], "language_code"),
    (&["language", "spoken_language"], "language"),
    (&["currency", "currency_code"], "currency_code"),
    (&["hashtag"], "hashtag"),
    (
        &[
            "company",
            "company_name",
            "employer",
            "organisation",
            "organization",
            "vendor",
            "supplier",
            "manufacturer",
            "sponsor",
            "publisher",
            "label",
            "studio",
            "insurer",
            "carrier",
            "client",
            "issuer",
            "contractor",
        ],
        "company",
    ),
    (&["brand", "make", "brand_name"], "brand"),
    (&["bank"], "bank_name"),
    (&["merchant", "payee", "counterparty"], "merchant"),
    (&["store", "shop", "retailer"], "shop_name"),
    (&["industry", "sector"], "industry"),
    (&["job", "job_title", "occupation", "profession", "position", "character"], "job_title"),
    (&["department", "division"], "department"),
    (&["faculty", "discipline"], "faculty"),
    (&["subject_area", "course", "major"], "subject"),
    (&["skill", "expertise", "speciality", "specialty", "specialisation"], "skill"),
    (&["team"], "team_name"),
    (&["genre"], "genre"),
    (&["category", "subcategory"], "category"),
    (&["tag", "keyword"], "tag"),
    (&["topic", "theme"], "topic"),
    (&["hobby", "interest"], "hobby"),
    (&["amenity", "feature"], "amenity"),
    (&["ingredient"], "ingredient_name"),
    (&["allergen", "allergy"], "allergen"),
    (&["cuisine"], "cuisine"),
    (&["dish", "meal"], "dish"),
    (&["drink", "beverage"], "drink"),
    (&["material", "fabric"], "material"),
    (&["breed"], "breed"),
    (&["species"], "species"),
    (&["medication", "medicine", "drug"], "medicine"),
    (&["symptom"], "symptom"),
    (&["diagnosis", "condition"], "diagnosis"),
    (&["treatment", "procedure"], "treatment"),
    (&["exercise"], "exercise"),
    (&["sport", "discipline"], "sport"),
    (&["album"], "album_title"),
    (&["song", "track"], "song_title"),
    (&["band", "artist", "artist_name"], "artist_name"),
    (&["book"], "book_title"),
    (&["movie", "film", "original_title"], "movie_title"),
    (&["product", "product_name", "item_name"], "product_name"),
    (&["model", "vehicle_model"], "vehicle_model"),
    (&["airline"], "airline_name"),
    (&["airport"], "airport_name"),
    (&["iata", "iata_code", "airport_code"], "airport_code"),
    (&["hotel"], "hotel_name"),
    (&["restaurant"], "restaurant_name"),
    (&["venue"], "venue_name"),
    (&["school", "university", "college"], "school_name"),
    (&["hospital"], "hospital_name"),
    (&["building"], "building_name"),
    (&["station", "stop", "platform_name"], "station_name"),
    (&["route", "line"], "route_name"),
    (&["landmark", "attraction"], "landmark_name"),
    (&["file_name", "filename", "attachment"], "file_name"),
    (&["folder"], "folder_name"),
    (&["mime_type", "content_type"], "mime_type"),
    (&["coupon", "promo_code", "voucher", "discount_code", "coupon_code"], "coupon_code"),
    (&["unit", "unit_of_measure"], "unit_word"),
    (&["size"], "clothing_size"),
    (&["tagline", "slogan", "motto"], "slogan"),
    (&["instruction", "instructions", "directions", "dosage"], "instruction"),
    (&["biography", "bio", "about_me"], "bio"),
    (&["reason", "cancellation_reason"], "reason"),
    (&["question"], "question"),
    (&["answer", "response", "reply"], "answer"),
    (&["feedback"], "feedback"),
    (&["announcement"], "announcement"),
    (&["problem", "issue", "complaint", "fault"], "problem"),
    (
        &[
            "author",
            "writer",
            "director",
            "driver",
            "doctor",
            "dentist",
            "patient",
            "customer",
            "owner",
            "contact",
            "guest",
            "host",
            "teacher",
            "instructor",
            "student",
            "tutor",
            "coach",
            "trainer",
            "member",
            "user",
            "agent",
            "employee",
            "manager",
            "person",
            "full_name",
            "fullname",
            "recipient",
            "sender",
            "assignee",
            "reporter",
            "organiser",
            "organizer",
            "speaker",
            "singer",
            "actor",
            "composer",
            "photographer",
            "therapist",
            "nurse",
            "vet",
            "technician",
            "mechanic",
            "tenant",
            "landlord",
            "buyer",
            "seller",
            "applicant",
            "candidate",
            "borrower",
            "creator",
            "editor",
            "lecturer",
            "professor",
            "requester",
            "volunteer",
            "donor",
            "chef",
            "pilot",
            "captain",
            "player",
            "attendee",
            "participant",
            "passenger",
            "traveller",
            "traveler",
            "holder",
            "beneficiary",
            "supervisor",
            "interviewer",
            "submitted_by",
            "created_by",
            "updated_by",
            "reported_by",
            "approved_by",
            "assigned_to",
            "signed_by",
            "contact_name",
            "cardholder",
            "winner",
            "translator",
            "narrator",
            "artist_real_name",
            "booked_by",
        ],
        "person_name",
    ),
];

/// Resources by the last word of their names, and what their records are called.
const NAMED: &[(&[&str], &str)] = &[
    (&["movie", "film"], "movie_title"),
    (&["book", "novel", "ebook", "audiobook"], "book_title"),
    (&["song", "track", "single"], "song_title"),
    (&["album", "record"], "album_title"),
    (&["band", "artist"], "artist_name"),
    (&["show", "series", "tv", "programme"], "series_title"),
    (&["episode"], "episode_title"),
    (&["podcast"], "podcast_title"),
    (&["game", "videogame"], "game_title"),
    (&["playlist", "watchlist", "wishlist", "mixtape"], "playlist_title"),
    (&["artwork", "painting", "exhibit", "sculpture"], "artwork_title"),
    (&["article", "post", "blog", "story"], "article_title"),
    (&["course", "class", "program", "module", "training"], "course_title"),
    (&["lesson", "lecture", "unit", "chapter"], "lesson_title"),
    (&["exam", "test", "quiz"], "exam_title"),
    (&["assignment", "homework", "essay"], "assignment_title"),
    (&["subject"], "subject"),
    (&["workshop"], "course_title"),
    (&["event", "happening", "activity"], "event_title"),
    (&["concert", "gig"], "concert_title"),
    (&["conference", "festival"], "event_title"),
    (&["exhibition"], "artwork_title"),
    (&["dish", "recipe", "meal", "course_dish"], "dish"),
    (&["menu_item"], "dish"),
    (&["drink", "beverage", "cocktail"], "drink"),
    (&["ingredient", "food", "grocery"], "ingredient_name"),
    (&["cuisine"], "cuisine"),
    (
        &["product", "item", "article_for_sale", "listing", "good", "merchandise", "sku", "variant"],
        "product_name",
    ),
    (&["category", "section", "collection"], "category"),
    (&["genre"], "genre"),
    (&["tag", "keyword", "label"], "tag"),
    (&["topic", "interest", "forum", "channel", "community"], "topic"),
    (&["brand", "manufacturer", "make"], "brand"),
    (
        &[
            "company",
            "supplier",
            "vendor",
            "employer",
            "client",
            "organisation",
            "organization",
            "partner",
            "publisher",
            "carrier",
            "agency",
            "insurer",
            "firm",
            "business",
            "sponsor",
            "producer",
            "contractor",
            "operator",
        ],
        "company",
    ),
    (&["bank"], "bank_name"),
    (&["merchant"], "merchant"),
    (&["charity"], "charity_name"),
    (&["department"], "department"),
    (&["faculty"], "faculty"),
    (&["skill"], "skill"),
    (&["team", "squad"], "team_name"),
    (&["club", "society"], "club_name"),
    (&["league", "tournament"], "event_title"),
    (&["sport"], "sport"),
    (&["hotel", "hostel", "lodging", "accommodation"], "hotel_name"),
    (&["restaurant", "eatery", "kitchen"], "restaurant_name"),
    (&["cafe", "bar", "pub", "coffee"], "cafe_name"),
    (&["shop", "store", "outlet"], "shop_name"),
    (&["clinic", "practice", "surgery"], "clinic_name"),
    (&["hospital"], "hospital_name"),
    (&["pharmacy"], "pharmacy_name"),
    (&["venue", "hall", "theatre", "theater", "stage"], "venue_name"),
    (&["cinema"], "cinema_name"),
    (&["museum", "gallery"], "museum_name"),
    (&["gym", "studio"], "gym_name"),
    (&["park", "garden", "reserve"], "park_name"),
    (&["library"], "library_name"),
    (&["branch", "office", "depot", "warehouse", "site", "location", "facility"], "neighbourhood"),
    (&["school", "university", "college", "academy"], "school_name"),
    (&["airport"], "airport_name"),
    (&["airline"], "airline_name"),
    (&["station", "stop", "terminal", "charger"], "station_name"),
    (&["route", "line", "tour"], "route_name"),
    (&["trail", "hike", "walk"], "trail_name"),
    (&["landmark", "attraction", "sight", "monument"], "landmark_name"),
    (&["building"], "building_name"),
    (&["room", "lab", "classroom", "court", "space"], "room_name"),
    (&["property", "apartment", "house", "home", "flat", "rental"], "property_name"),
    (&["city", "town", "destination", "place", "port"], "city"),
    (&["country"], "country"),
    (&["region", "area", "zone", "district"], "region"),
    (&["street"], "street_name"),
    (&["language"], "language"),
    (&["currency"], "currency_code"),
    (&["project", "initiative"], "project_title"),
    (&["task", "todo", "chore", "subtask", "card", "step", "action"], "task_title"),
    (&["meeting", "appointment", "calendar_event", "slot", "call"], "meeting_title"),
    (&["reminder"], "reminder_title"),
    (&["alarm"], "alarm_title"),
    (&["goal", "objective"], "goal_title"),
    (&["habit", "routine"], "habit_title"),
    (&["ticket", "request", "case", "enquiry"], "ticket_title"),
    (&["incident", "issue", "bug", "fault", "outage"], "incident_title"),
    (&["email", "mail", "thread"], "email_subject"),
    (&["newsletter", "magazine", "newspaper"], "newsletter_title"),
    (&["campaign", "promotion", "offer", "deal"], "campaign_title"),
    (&["survey", "poll", "form"], "survey_title"),
    (&["document", "contract", "page", "note"], "document_title"),
    (&["file", "attachment", "upload", "image", "photo"], "file_name"),
    (&["folder", "directory", "notebook"], "folder_name"),
    (&["plan", "tariff", "package", "membership", "tier", "subscription"], "plan_name"),
    (&["policy", "cover"], "policy_name"),
    (&["account", "wallet", "pot"], "account_name"),
    (&["device", "appliance", "gadget", "light", "lamp"], "device_name"),
    (&["sensor", "meter"], "sensor_name"),
    (&["server", "host_machine", "machine", "instance", "node"], "server_name"),
    (&["repository", "repo", "service", "app"], "repository_name"),
    (&["vehicle", "car", "van", "bike", "scooter"], "vehicle_name"),
    (&["pet", "animal", "dog", "cat"], "pet_name"),
    (&["breed"], "breed"),
    (&["species"], "wild_species"),
    (&["plant", "flower", "crop"], "plant_name"),
    (&["medicine", "medication", "drug", "prescription"], "medicine"),
    (&["symptom"], "symptom"),
    (&["treatment", "procedure", "therapy"], "treatment"),
    (&["exercise"], "exercise"),
    (&["workout", "session", "programme_of_exercise"], "workout_title"),
    (&["amenity", "feature"], "amenity"),
    (&["material"], "material"),
    (&["hobby"], "hobby"),
    (&["job", "vacancy", "occupation", "role"], "job_title"),
    (&["award", "prize", "badge"], "prize_name"),
    (&["coupon", "voucher"], "coupon_code"),
    (&["equipment", "tool", "part", "asset"], "product_name"),
    (&["colour", "color"], "colour"),
];

/// Sentences by the last words of the field's or the resource's name. Rows with a resource come first.
const SENTENCES: &[(&[&str], &[&str], &str)] = &[
    (&["review", "rating", "testimonial"], &["film", "movie", "series", "show"], "review_film"),
    (&["review", "rating"], &["book", "novel"], "review_book"),
    (&["playlist", "mix", "album"], &[], "about_playlist"),
    (&["review", "rating", "testimonial"], &[], "review"),
    (&["appointment", "visit", "patient", "treatment", "consultation", "session"], &[], "note_appointment"),
    (&["order", "dish", "meal", "basket"], &[], "note_order"),
    (&["delivery", "shipment", "parcel", "package", "courier"], &[], "note_delivery"),
    (&["reservation", "booking", "stay", "room"], &[], "note_reservation"),
    (&["ticket", "incident", "issue", "complaint", "bug", "case", "report"], &[], "problem"),
    (&["message", "email", "mail", "chat", "thread", "reminder"], &[], "message"),
    (&["post", "tweet", "update"], &[], "post"),
    (&["news", "article", "story"], &[], "news_summary"),
    (&["question"], &[], "question"),
    (&["answer"], &[], "answer"),
    (&["product", "item", "listing", "equipment", "article"], &[], "about_product"),
    (
        &["restaurant", "hotel", "cafe", "venue", "museum", "shop", "store", "gym", "place", "branch"],
        &[],
        "about_place",
    ),
    (&["event", "concert", "workshop", "exhibition", "activity", "festival"], &[], "about_event"),
    (&["recipe"], &[], "about_recipe"),
    (&["course", "class", "lesson", "module"], &[], "about_course"),
    (&["job", "vacancy", "position"], &[], "about_job"),
    (&["property", "apartment", "house", "flat", "rental"], &[], "about_property"),
    (&["movie", "film", "series", "show", "episode", "book"], &[], "about_film"),
    (&["prescription", "medication", "step"], &[], "instruction"),
    (&["feedback", "survey"], &[], "feedback"),
];

/// What a field name says about its text, whatever the resource.
const BY_FIELD: &[(&[&str], &str)] = &[
    (&["review"], "review"),
    (&["delivery"], "note_delivery"),
    (&["message"], "message"),
    (&["comment"], "remark"),
    (&["feedback"], "feedback"),
];

/// Names of fields that hold sentences.
const PROSE: [&str; 26] = [
    "note",
    "notes",
    "comment",
    "comments",
    "message",
    "body",
    "text",
    "content",
    "description",
    "summary",
    "about",
    "overview",
    "details",
    "detail",
    "remark",
    "remarks",
    "review",
    "special_requests",
    "request",
    "synopsis",
    "abstract",
    "caption",
    "plot",
    "memo",
    "observation",
    "introduction",
];

/// A sentence, or a few, about what the field and the resource are about.
pub(super) fn sentence(place: &Place<'_>, long: bool) -> Maker {
    let (field, resource) = (words(place.name), words(&place.world.resource(place.resource).name));
    let descriptive =
        ends(&field, &["description", "summary", "about", "overview", "synopsis", "plot", "introduction"]);
    let by_field = BY_FIELD.iter().find(|(names, _)| ends(&field, names)).map(|(_, rule)| *rule);
    let by_resource = || {
        let fits = |(names, with, _): &&(&[&str], &[&str], &str)| {
            let refers = with.is_empty() || refers_to(place, with);
            refers && ends(&resource, names)
        };
        SENTENCES
            .iter()
            .filter(|(.., rule)| !descriptive || !rule.starts_with("note"))
            .find(fits)
            .map(|(.., rule)| *rule)
    };
    let fallback = match (descriptive, long) {
        (true, _) => "about_thing",
        (_, true) => "paragraph",
        _ if ends(&field, &["note", "notes"]) => "note_general",
        _ => "sentence",
    };
    let film = descriptive.then(|| by_resource().filter(|rule| rule.starts_with("about"))).flatten();
    let rule = film.or(by_field).or_else(by_resource).unwrap_or(fallback);
    review(place, rule).or_else(|| Maker::rule(rule)).unwrap_or(Maker::Constant(Value::Null))
}

/// Product names: without brand and colour where other fields have those.
pub(super) fn product(place: &Place<'_>) -> Maker {
    let fields = &place.world.resource(place.resource).fields;
    let told = |field: &crate::model::Field| {
        ends(&words(&field.name), &["brand", "manufacturer", "make", "brand_name"])
    };
    let rule = if fields.iter().any(told) { "product_plain_name" } else { "product_name" };
    Maker::rule(rule).unwrap_or(Maker::Constant(Value::Null))
}

/// The rating beside a review, and what reviews with low, middle and high ratings say.
fn review(place: &Place<'_>, rule: &str) -> Option<Maker> {
    let rules = match rule {
        "review_film" => ["film_bad", "film_mixed", "film_praise"],
        "review_book" => ["book_bad", "book_mixed", "book_good"],
        "review" => ["review_low", "review_mixed", "review_high"],
        _ => return None,
    };
    let rated = |field: &crate::model::Field| {
        let numeric = matches!(field.schema.kind, Type::Integer | Type::Number | Type::Decimal { .. });
        numeric && ends(&words(&field.name), &["rating", "stars", "score", "grade"])
    };
    let rating = place.world.resource(place.resource).fields.iter().position(rated)?;
    let [low, middle, high] = rules.map(Provider::named);
    Some(Maker::Review { rating, rules: [low?, middle?, high?] })
}

/// `amenities` is a list of each an `amenity`.
fn singular(name: &str) -> String {
    match (name.strip_suffix("ies"), name.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (_, Some(stem)) => stem.to_owned(),
        _ => name.to_owned(),
    }
}

/// Whether the resource's name or its references name one of these.
fn refers_to(place: &Place<'_>, names: &[&str]) -> bool {
    let resource = place.world.resource(place.resource);
    let inside = |name: &str| words(name).iter().any(|word| names.contains(&word.as_str()));
    inside(&resource.name)
        || resource.fields.iter().any(|field| match &field.schema.kind {
            Type::Reference { resource, .. } => inside(&place.world.resource(*resource).name),
            _ => false,
        })
}

fn text(schema: &Schema, place: &Place<'_>, name: &str, words: &[String]) -> Maker {
    if let Some(pattern) = &schema.limits.pattern
        && let Some(generator) = Generator::new(pattern.source())
    {
        return Maker::Pattern(generator);
    }
    let named = |provider: &str| Provider::named(provider).map(Maker::Text);
    let by_format = match schema.format.as_deref() {
        Some("email") => named("email"),
        Some("uri" | "url") => named("url"),
        Some("phone") => named("phone"),
        Some("uuid") => named("uuid"),
        Some("ipv4" | "ip") => named("ip"),
        Some("hostname") => named("domain_name"),
        Some("password") => named("password"),
        Some("color" | "colour") => named("hex_colour"),
        Some("date") => return Maker::Template(vec![Piece::Text("2026-01-15".into())]),
        _ => None,
    };
    if let Some(maker) = by_format {
        return maker;
    }
    if let Some(code) = code(words) {
        return Maker::Code(Code::parse(code));
    }
    let resource = self::words(&place.world.resource(place.resource).name);
    if ends(words, &["name", "title", "headline", "subject", "display_name", "label"]) {
        // `product_name` in an order is about a product; `name` is about the resource itself.
        let (of, rest): (&[String], &[String]) = match words.split_last() {
            Some((_, rest)) if !rest.is_empty() && rest != ["display"] => (rest, words),
            _ => (&resource, words),
        };
        if let Some((_, provider)) = TEXTS.iter().find(|(names, _)| rest.len() > 1 && exact(rest, names)) {
            return named(provider).unwrap_or_else(|| sentence(place, false));
        }
        let by_noun =
            NAMED.iter().find(|(names, _)| ends(of, names)).and_then(|(_, provider)| named(provider));
        if let Some(maker) = by_noun {
            let is_product = maker.same_rule("product_name");
            return if is_product { product(place) } else { maker };
        }
        let person = TEXTS.iter().find(|(_, provider)| *provider == "person_name");
        let is_person = person.is_some_and(|(names, _)| ends(of, names));
        return match words.last().map(String::as_str) {
            Some("subject") => named("email_subject"),
            Some("title" | "headline" | "label") if !is_person => named("article_title"),
            _ if is_person || has_personal_fields(place) => named("person_name"),
            _ => named("brand"),
        }
        .unwrap_or_else(|| sentence(place, false));
    }
    if ends(words, &PROSE) || schema.limits.max_length.is_some_and(|length| length > 200) {
        return sentence(place, false);
    }
    match TEXTS.iter().find(|(names, _)| ends(words, names)) {
        Some((_, "genre")) => named(genre(&resource)).unwrap_or_else(|| sentence(place, false)),
        Some((_, provider)) => named(provider).unwrap_or_else(|| sentence(place, false)),
        None if name.is_empty() => named("word").unwrap_or_else(|| sentence(place, false)),
        None => {
            let by_noun =
                NAMED.iter().find(|(names, _)| ends(words, names)).and_then(|(_, provider)| named(provider));
            by_noun.or_else(|| named("word")).unwrap_or_else(|| sentence(place, false))
        }
    }
}

/// Films, music and books have genres of their own.
fn genre(resource: &[String]) -> &'static str {
    let is = |names: &[&str]| ends(resource, names);
    if is(&["movie", "film", "show", "series", "episode", "screening", "tv"]) {
        "film_genre"
    } else if is(&[
        "song", "track", "album", "artist", "band", "concert", "playlist", "radio", "musician", "gig",
    ]) {
        "music_genre"
    } else if is(&["book", "novel", "author", "audiobook", "ebook"]) {
        "book_genre"
    } else {
        "genre"
    }
}

/// A resource whose records have e-mail addresses or birthdays is one of people.
fn has_personal_fields(place: &Place<'_>) -> bool {
    let fields = &place.world.resource(place.resource).fields;
    fields.iter().any(|field| {
        ends(&words(&field.name), &["email", "birth_date", "birthday", "date_of_birth", "password"])
    })
}

/// Forms of codes by the field's name.
fn code(words: &[String]) -> Option<&'static str> {
    const CODES: &[(&[&str], &str)] = &[
        (&["sku"], "{AAA}-####"),
        (&["pin", "passcode"], "####"),
        (&["isrc"], "{AA}-{AAA}-##-#####"),
        (&["vin"], "{AAA}#{AA}##{A}#######"),
        (&["tracking_number", "tracking_code", "tracking"], "{AA}#########"),
        (&["flight_number", "flight"], "{AA}###"),
        (&["gate"], "{A}##"),
        (&["seat", "seat_number"], "##{A}"),
        (&["room_number", "room_no"], "###"),
        (&["card_number"], "#### #### #### ####"),
        (&["account_number"], "########"),
        (&["serial_number", "serial"], "SN-######{AA}"),
        (&["invoice_number"], "INV-#####"),
        (&["order_number"], "ORD-######"),
        (&["ticket_number"], "T-######"),
        (&["policy_number"], "PL-######"),
        (&["version"], "#.#.#"),
        (&["confirmation_code", "confirmation", "booking_code", "booking_reference", "pnr"], "{AAA}###"),
        (&["barcode", "ean"], "#############"),
        (&["commit", "sha", "hash", "checksum"], "{xxxxxxxxxxxx}"),
        (&["token", "api_key"], "{xxxxxxxxxxxxxxxxxxxx}"),
        (&["code"], "{AA}-####"),
        (&["reference", "reference_number", "ref"], "REF-#####"),
        (&["number"], "######"),
        (&["symbol", "ticker"], "{AAAA}"),
        (&["id", "external_id"], "{xxxxxxxx}"),
    ];
    // These have providers of their own.
    const OTHERS: [&str; 12] = [
        "country", "currency", "language", "zip", "postal", "phone", "promo", "discount", "iata", "airport",
        "coupon", "plate",
    ];
    if words.iter().any(|word| OTHERS.contains(&word.as_str())) {
        return None;
    }
    CODES.iter().find(|(names, _)| ends(words, names)).map(|(_, code)| *code)
}

/// Things that mostly hold are true in three of four records.
fn booleans(words: &[String]) -> Vec<Value> {
    let mostly = [
        "active",
        "available",
        "enabled",
        "verified",
        "open",
        "visible",
        "in_stock",
        "published",
        "subscribed",
    ];
    let seldom = [
        "deleted",
        "archived",
        "blocked",
        "banned",
        "suspended",
        "cancelled",
        "hidden",
        "expired",
        "overdue",
    ];
    let shares: &[bool] = if ends(words, &mostly) {
        &[true, true, true, false]
    } else if ends(words, &seldom) {
        &[false, false, false, true]
    } else {
        &[true, true, false, false]
    };
    shares.iter().map(|value| Value::Bool(*value)).collect()
}

/// Ranges of whole numbers by name: least, greatest, step.
const INTEGERS: &[(&[&str], i64, i64, i64)] = &[
    (&["age"], 18, 79, 1),
    (&["year", "release_year", "founded", "model_year"], 1985, 2025, 1),
    (&["month"], 1, 12, 1),
    (&["day", "day_of_month"], 1, 28, 1),
    (&["weekday", "day_of_week"], 1, 7, 1),
    (&["hour"], 0, 23, 1),
    (&["rating", "stars", "score_out_of_five"], 1, 5, 1),
    (&["score"], 0, 100, 1),
    (&["priority", "severity", "level"], 1, 5, 1),
    (&["quantity", "qty"], 1, 12, 1),
    (
        &["stock", "in_stock", "inventory", "on_hand", "available", "quantity_available", "stock_level"],
        0,
        120,
        1,
    ),
    (&["copies"], 1, 9, 1),
    (&["capacity", "max_participants", "max_guests", "places"], 4, 60, 1),
    (&["guests", "party_size", "passengers", "people", "adults", "attendees", "participants"], 1, 8, 1),
    (&["children", "kids"], 0, 4, 1),
    (&["nights"], 1, 10, 1),
    (&["bedrooms", "rooms"], 1, 5, 1),
    (&["bathrooms"], 1, 3, 1),
    (&["seats"], 2, 9, 1),
    (&["beds"], 1, 6, 1),
    (&["floor", "storey"], 0, 12, 1),
    (&["pages", "page_count"], 84, 720, 1),
    (&["runtime", "runtime_min", "runtime_minutes"], 78, 172, 1),
    (&["duration", "duration_min", "duration_minutes", "minutes", "length_min"], 15, 180, 5),
    (&["duration_s", "duration_seconds", "seconds"], 120, 420, 1),
    (&["hours", "duration_hours"], 1, 40, 1),
    (&["days", "lead_time_days", "duration_days"], 1, 30, 1),
    (&["weeks", "duration_weeks"], 2, 16, 1),
    (&["servings", "portions", "serves"], 1, 8, 1),
    (&["calories", "kcal"], 80, 950, 10),
    (&["credits", "ects"], 2, 12, 1),
    (&["views", "plays", "downloads", "play_count", "view_count", "visits"], 40, 90_000, 1),
    (
        &["likes", "upvotes", "followers", "votes", "vote_count", "subscribers", "reactions", "shares"],
        0,
        4_000,
        1,
    ),
    (&["points", "loyalty_points", "balance_points"], 0, 5_000, 10),
    (&["steps"], 1_200, 19_000, 1),
    (&["population"], 12_000, 4_000_000, 100),
    (&["mileage", "odometer", "km"], 4_000, 160_000, 100),
    (&["employees", "employee_count", "staff"], 3, 900, 1),
    (&["size_kb", "file_size", "size"], 12, 9_000, 1),
    (&["percent", "percentage", "progress", "battery", "humidity", "completion"], 0, 100, 1),
    (&["discount"], 5, 50, 5),
    (&["price", "cost", "fee", "amount", "total"], 5, 400, 5),
    (&["salary"], 24_000, 96_000, 500),
    (&["temperature", "temperature_c"], -5, 34, 1),
    (&["weight", "weight_kg"], 1, 90, 1),
    (&["height", "height_cm"], 80, 195, 1),
    (&["distance", "distance_km"], 1, 60, 1),
    (
        &[
            "episode_number",
            "track_number",
            "season_number",
            "number",
            "position",
            "order",
            "rank",
            "sequence",
        ],
        1,
        20,
        1,
    ),
    (&["attempts", "renewals", "retries"], 0, 3, 1),
    (&["budget", "revenue"], 10_000, 2_000_000, 1_000),
];

/// Ranges of decimals and numbers by name: least, greatest, step.
const REALS: &[(&[&str], f64, f64, f64)] = &[
    (&["rating", "average_rating", "stars", "vote_average"], 2.5, 5.0, 0.1),
    (&["score", "gpa"], 1.0, 5.0, 0.1),
    (&["latitude", "lat"], -60.0, 70.0, 0.0001),
    (&["longitude", "lon", "lng", "long"], -180.0, 180.0, 0.0001),
    (&["salary", "annual_salary"], 24_000.0, 96_000.0, 500.0),
    (&["rent", "monthly_rent"], 450.0, 2_600.0, 25.0),
    (&["deposit"], 50.0, 1_500.0, 25.0),
    (&["balance", "credit_limit", "savings"], 20.0, 6_000.0, 0.01),
    (&["budget", "revenue", "goal", "target"], 500.0, 60_000.0, 100.0),
    (&["tip", "tax", "shipping", "delivery_fee", "shipping_cost"], 1.0, 15.0, 0.25),
    (&["hourly_rate", "rate", "hourly"], 12.0, 95.0, 0.5),
    (&["fee", "price_per_night", "nightly_rate", "fare"], 15.0, 220.0, 1.0),
    (&["interest_rate", "tax_rate", "apr"], 0.5, 12.0, 0.05),
    (&["discount", "percent", "percentage", "humidity", "battery"], 0.0, 100.0, 1.0),
    (&["share", "probability", "ratio", "confidence"], 0.0, 1.0, 0.01),
    (&["weight", "weight_kg", "kg"], 0.2, 12.0, 0.1),
    (&["height", "height_cm", "length_cm", "width_cm", "depth_cm"], 10.0, 195.0, 0.5),
    (&["height_m", "width", "length", "depth", "width_m", "length_m"], 0.3, 4.0, 0.01),
    (&["distance", "distance_km", "km", "length_km"], 0.5, 42.0, 0.1),
    (&["area", "area_m2", "size_m2", "square_metres", "floor_area"], 18.0, 220.0, 1.0),
    (&["temperature", "temperature_c", "temp"], -8.0, 36.0, 0.1),
    (&["speed", "speed_kmh", "wind_speed"], 2.0, 60.0, 0.5),
    (&["volume", "litres", "liters", "volume_l"], 0.1, 20.0, 0.1),
    (&["power", "power_kw", "kw"], 1.0, 22.0, 0.1),
    (&["energy", "energy_kwh", "kwh"], 0.5, 60.0, 0.1),
    (&["hours", "duration_hours"], 0.5, 12.0, 0.5),
    (&["duration", "duration_min", "minutes"], 10.0, 180.0, 5.0),
    (&["elevation", "altitude", "elevation_m"], 5.0, 2_800.0, 1.0),
    (&["popularity"], 1.0, 99.0, 0.1),
];

/// Names of fields that hold prices.
const PRICES: [&str; 14] = [
    "price",
    "cost",
    "amount",
    "total",
    "subtotal",
    "unit_price",
    "total_price",
    "sum",
    "value",
    "payment",
    "charge",
    "premium",
    "sale_price",
    "list_price",
];

fn number(schema: &Schema, place: &Place<'_>, words: &[String]) -> Maker {
    let limit = |value: &Option<Value>| value.as_ref().and_then(Value::as_f64);
    let (least, greatest) = (limit(&schema.limits.min), limit(&schema.limits.max));
    let integer = matches!(schema.kind, Type::Integer);
    let coordinate = ends(words, &["latitude", "lat", "longitude", "lon", "lng"]);
    if coordinate && !integer {
        return Maker::Coordinate { latitude: ends(words, &["latitude", "lat"]) };
    }
    let by_name = if integer {
        let found = INTEGERS.iter().find(|(names, ..)| ends(words, names));
        found.map(|(_, min, max, step)| (*min as f64, *max as f64, Some(*step as f64)))
    } else {
        let found = REALS.iter().find(|(names, ..)| ends(words, names));
        found.map(|(_, min, max, step)| (*min, *max, Some(*step)))
    };
    // The present year bounds years of the past.
    let by_name = by_name.map(|(min, max, step)| {
        let year = ends(words, &["year", "release_year", "founded", "model_year"]);
        let now = f64::from(place.world.zone.civil(place.world.clock).year());
        if year { (min.min(now), now, step) } else { (min, max, step) }
    });
    let money = matches!(&schema.kind, Type::Decimal { currency: Some(_), .. });
    let (min, max, step) = by_name.unwrap_or(if integer {
        (1.0, 100.0, None)
    } else if money {
        (4.0, 180.0, None)
    } else {
        (1.0, 100.0, Some(0.1))
    });
    // Limits narrow the range; where they leave nothing of it, they are the range.
    let (low, high) =
        (least.map_or(min, |least| least.max(min)), greatest.map_or(max, |greatest| greatest.min(max)));
    let kept = low < high;
    let (low, high) = if kept {
        (low, high)
    } else {
        let low = least.unwrap_or_else(|| greatest.unwrap_or(0.0).min(0.0));
        (low, greatest.unwrap_or(low.abs() * 2.0 + 100.0).max(low))
    };
    if let Type::Decimal { scale: scale @ 1..=4, .. } = schema.kind
        && kept
        && (ends(words, &PRICES) || (money && by_name.is_none()))
        && let (Some(min), Some(max)) = (Decimal::round(low, scale), Decimal::round(high, scale))
    {
        return Maker::Price { min: min.minor, max: max.minor, scale };
    }
    let step = step.filter(|step| *step <= high - low);
    let fallback = Maker::Constant(Value::Integer(low as i64));
    range(low, high, step, schema).unwrap_or(fallback)
}

/// Spans in days around the clock by name.
const SPANS: &[(&[&str], i64, i64)] = &[
    (&["birth_date", "birthday", "date_of_birth", "dob", "born", "born_on"], -28_000, -6_900),
    (&["hired_on", "hire_date", "hired_at", "employed_since"], -3_600, -60),
    (
        &[
            "joined_at",
            "joined_on",
            "joined",
            "member_since",
            "registered_at",
            "registered_on",
            "signed_up_at",
            "since",
        ],
        -1_800,
        -10,
    ),
    (
        &[
            "published_at",
            "published_on",
            "published",
            "release_date",
            "released_on",
            "publication_date",
            "first_aired",
            "premiered_on",
        ],
        -7_000,
        -30,
    ),
    (&["purchased_on", "purchase_date", "bought_on"], -1_400, -20),
    (
        &[
            "created_at",
            "created_on",
            "created",
            "opened_at",
            "opened_on",
            "submitted_at",
            "requested_at",
            "reported_at",
            "logged_at",
            "ordered_at",
            "ordered_on",
            "order_date",
            "placed_at",
            "posted_at",
            "sent_at",
            "issued_on",
            "issued_at",
            "paid_at",
            "uploaded_at",
            "recorded_at",
            "received_at",
            "booked_at",
            "written_at",
            "added_at",
            "reviewed_at",
            "timestamp",
            "measured_at",
            "shipped_at",
            "occurred_at",
            "visited_on",
            "played_at",
            "watched_at",
            "taken_at",
            "played_on",
            "happened_at",
            "transaction_date",
            "invoice_date",
        ],
        -90,
        -1,
    ),
    (
        &[
            "updated_at",
            "updated_on",
            "modified_at",
            "last_seen",
            "last_seen_at",
            "last_login",
            "last_login_at",
            "seen_at",
            "last_active",
            "edited_at",
            "synced_at",
        ],
        -30,
        0,
    ),
    (
        &[
            "completed_at",
            "closed_at",
            "resolved_at",
            "finished_at",
            "returned_at",
            "returned_on",
            "delivered_at",
            "checked_in_at",
            "ended_at",
            "cancelled_at",
            "deleted_at",
        ],
        -60,
        -1,
    ),
    (&["due", "due_at", "due_on", "due_date", "deadline", "due_by"], 1, 45),
    (
        &[
            "expires_at",
            "expires_on",
            "expiry",
            "expiry_date",
            "expiration_date",
            "valid_until",
            "valid_to",
            "renewal_date",
            "renews_on",
            "next_payment_on",
            "warranty_until",
        ],
        20,
        700,
    ),
    (&["available_from", "available_on"], 3, 90),
    (&["check_in", "checkin", "arrival", "arrives_on", "arrival_date", "move_in"], 2, 60),
];

/// Ends and the starts they follow, with how long after: least and most in minutes for times, in days for dates.
const ENDS: &[(&str, &str)] = &[
    ("ends", "starts"),
    ("end", "start"),
    ("to", "from"),
    ("until", "from"),
    ("check_out", "check_in"),
    ("checkout", "checkin"),
    ("arrives", "departs"),
    ("arrival", "departure"),
    ("closes", "opens"),
    ("updated", "created"),
    ("due", "borrowed"),
    ("returned", "borrowed"),
    ("due", "lent"),
    ("delivered", "shipped"),
    ("shipped", "ordered"),
    ("closing", "opening"),
    ("finish", "start"),
    ("ended", "started"),
    ("completed", "started"),
    ("resolved", "opened"),
    ("closed", "opened"),
    ("dropoff", "pickup"),
    ("drop_off", "pick_up"),
    ("expires", "issued"),
    ("resolved", "reported"),
    ("return", "pickup"),
    ("checked_out", "checked_in"),
    ("return", "departure"),
    ("landing", "takeoff"),
    ("due", "issued"),
];

fn moment(schema: &Schema, place: &Place<'_>, name: &str, words: &[String]) -> Maker {
    if let Some(field) = start_of(schema, place, name) {
        return match schema.kind {
            Type::Date if name.contains("expire") => {
                Maker::After { field, least: 12, most: 36, step: 30 * DAY }
            }
            Type::Date => Maker::After { field, least: 1, most: 7, step: DAY },
            Type::Time if name.starts_with("clos") => Maker::After { field, least: 8, most: 13, step: 3_600 },
            Type::Time => Maker::After { field, least: 2, most: 8, step: 3_600 },
            _ if name.starts_with("updated") => Maker::After { field, least: 1, most: 12, step: 3_600 },
            _ => Maker::After { field, least: 1, most: 6, step: 1_800 },
        };
    }
    let by_name = SPANS.iter().find(|(names, ..)| ends(words, names)).map(|(_, from, to)| (*from, *to));
    let past = by_name.is_some_and(|(_, to)| to <= 0);
    let (from, to) = by_name.unwrap_or_else(|| match words.last().map(String::as_str) {
        Some("at" | "on" | "start" | "time" | "departure" | "date" | "from" | "day") => (1, 30),
        _ => (-30, 30),
    });
    if matches!(schema.kind, Type::Time) {
        let (open, close) = match words.first().map(String::as_str) {
            Some("opens" | "opening" | "open") => (Time(7 * 3600), Time(10 * 3600 + 1)),
            Some("closes" | "closing" | "close") => (Time(17 * 3600), Time(22 * 3600 + 1)),
            Some("check" | "checkin") if words.get(1).map(String::as_str) != Some("out") => {
                (Time(13 * 3600), Time(16 * 3600 + 1))
            }
            Some("check" | "checkout") => (Time(10 * 3600), Time(12 * 3600 + 1)),
            _ => (Time(8 * 3600), Time(20 * 3600)),
        };
        return Maker::Time(day_span(open, close, 1_800));
    }
    let bound = |limit: &Option<Value>, days: i64| match limit {
        Some(Value::Date(day)) => Bound::Day(*day),
        Some(Value::DateTime(instant)) => Bound::At(*instant),
        _ => Bound::Offset(days * DAY),
    };
    let span = Span {
        from: bound(&schema.limits.min, from),
        to: bound(&schema.limits.max, to),
        weekdays: Vec::new(),
        // What was written down happened at any minute of the day, what is planned begins on the half hour.
        hours: Some(if past { (Time(6 * 3600), Time(23 * 3600)) } else { (Time(8 * 3600), Time(20 * 3600)) }),
        step: if past { 60 } else { 1_800 },
    };
    if matches!(schema.kind, Type::Date) { Maker::Date(span) } else { Maker::DateTime(span) }
}

/// The earlier field of the same type that this one ends, where there is one.
fn start_of(schema: &Schema, place: &Place<'_>, name: &str) -> Option<usize> {
    let fields = &place.world.resource(place.resource).fields;
    let here = fields.iter().position(|field| *field.name == *name)?;
    ENDS.iter().find_map(|(end, start)| {
        let begins = name.starts_with(end) && name[end.len()..].starts_with(['_', 's']) || name == *end;
        let finishes = name.ends_with(end) && name[..name.len() - end.len()].ends_with('_');
        if !begins && !finishes {
            return None;
        }
        fields.iter().take(here).position(|field| {
            let alike = std::mem::discriminant(&field.schema.kind) == std::mem::discriminant(&schema.kind);
            alike && (field.name.starts_with(start) || field.name.ends_with(start)) && *field.name != *name
        })
    })
}

/// The words of a name: split at `_`, `-`, `.`, blanks and capitals, in lower case.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for character in name.chars() {
        let splits = matches!(character, '_' | '-' | '.' | ' ');
        if splits || (character.is_uppercase() && lower) {
            words.push(String::new());
        }
        lower = character.is_lowercase();
        if !splits && let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether the words end like one of these names (`_` between words); plural endings count too.
fn ends(words: &[String], names: &[&str]) -> bool {
    names.iter().any(|name| {
        let parts: Vec<&str> = name.split('_').collect();
        words.len() >= parts.len()
            && words[words.len() - parts.len()..].iter().zip(&parts).all(|(word, part)| {
                word == part
                    || word.strip_suffix('s').is_some_and(|singular| singular == *part)
                    || word.strip_suffix("ies").is_some_and(|stem| part.strip_suffix('y') == Some(stem))
            })
    })
}

fn exact(words: &[String], names: &[&str]) -> bool {
    let joined = words.join("_");
    names.contains(&joined.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_that_the_tables_name_exists() {
        let rows = TEXTS.iter().chain(NAMED).map(|(_, provider)| *provider);
        let rows = rows
            .chain(SENTENCES.iter().map(|(.., rule)| *rule))
            .chain(BY_FIELD.iter().map(|(_, rule)| *rule));
        let unknown: Vec<&str> = rows.filter(|provider| Provider::named(provider).is_none()).collect();
        assert_eq!(unknown, Vec::<&str>::new());
    }

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(words("posterPath").join(" "), "poster path");
        assert_eq!(words("vote_average.gte").join(" "), "vote average gte");
        assert!(ends(&words("home_phone_number"), &["phone_number"]));
        assert!(!ends(&words("telephony"), &["phone"]));
    }
}
