import Accounts

extension Provider {
    /// The metadata document of the provider (OpenID Connect Discovery 1.0 §3, RFC 8414 §2).
    var metadata: JSON {
        func list(_ items: [String]) -> JSON { .array(items.map(JSON.string)) }
        func url(_ path: String) -> JSON { .string("\(issuer)/oauth/\(path)") }
        let authentication = list(["client_secret_basic", "client_secret_post", "none"])
        return [
            "issuer": .string(issuer), "authorization_endpoint": url("authorize"), "token_endpoint": url("token"),
            "userinfo_endpoint": url("userinfo"), "jwks_uri": url("keys"), "revocation_endpoint": url("revoke"),
            "introspection_endpoint": url("introspect"), "end_session_endpoint": url("logout"),
            "pushed_authorization_request_endpoint": url("par"), "require_pushed_authorization_requests": false,
            "response_types_supported": ["code"], "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": list(SigningAlgorithm.allCases.map(\.rawValue)),
            "token_endpoint_auth_methods_supported": authentication,
            "revocation_endpoint_auth_methods_supported": authentication,
            "introspection_endpoint_auth_methods_supported": list(["client_secret_basic", "client_secret_post"]),
            "code_challenge_methods_supported": ["S256"], "scopes_supported": list(AuthorizationRequest.scopes),
            "prompt_values_supported": list(AuthorizationRequest.Prompt.allCases.map(\.rawValue)),
            "acr_values_supported": ["aal1", "aal2"],
            "ui_locales_supported": list(sessions.flow.languages.map(\.tag)),
            "claims_supported": list(
                [
                    "sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "sid", "at_hash",
                    "account_created",
                ]
                    + claimNames
            ),
            "claims_parameter_supported": false, "request_parameter_supported": false,
            "request_uri_parameter_supported": false, "authorization_response_iss_parameter_supported": true,
            "backchannel_logout_supported": true, "backchannel_logout_session_supported": true,
        ]
    }
}
