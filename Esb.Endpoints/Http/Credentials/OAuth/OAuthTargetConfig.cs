using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Http.Credentials.OAuth;

/// <summary>OAuth 2.0 client credentials (RFC 6749, section 4.4): a bearer token from an authorization server.</summary>
internal sealed record OAuthTargetConfig : TargetCredentialConfig
{
    [Setting(
        "The token endpoint of the authorization server; its certificate is checked against the same authorities as the endpoint's.",
        MayHoldPassword = true
    )]
    public required string TokenUrl { get; init; }

    [Setting("The client's id.")]
    public required string ClientId { get; init; }

    [Setting("The client's secret, sent by basic authentication.", Secret = true)]
    public required string ClientSecret { get; init; }

    [Setting("The scopes to ask for; by default those that the server gives.")]
    public IReadOnlyList<string> Scopes { get; init; } = [];
}
