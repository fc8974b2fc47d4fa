using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Http.Credentials;

/// <summary>The credential of an http-outbound endpoint, whatever its messages and callers carry.</summary>
[Kinds("type")]
internal abstract record TargetCredentialConfig : SettingsRecord;

/// <summary>A user and a password (RFC 7617).</summary>
internal sealed record BasicTargetConfig : TargetCredentialConfig
{
    [Setting("The user.")]
    public required string User { get; init; }

    [Setting("The password.", Secret = true)]
    public required string Password { get; init; }
}

/// <summary>A key in a header.</summary>
internal sealed record ApiKeyTargetConfig : TargetCredentialConfig
{
    [Setting("The header with the key.")]
    public string Header { get; init; } = "X-Api-Key";

    [Setting("The key.", Secret = true)]
    public required string Key { get; init; }
}

/// <summary>A bearer token (RFC 6750).</summary>
[ExactlyOne("token", "file")]
internal sealed record BearerTargetConfig : TargetCredentialConfig
{
    [Setting("The token.", Secret = true)]
    public string? Token { get; init; }

    [Setting("A file with the token, which is read again when it changes.", IsPath = true)]
    public string? File { get; init; }
}
