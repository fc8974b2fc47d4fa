using Esb.Core.Configuration.Settings;
using Esb.Core.Topics;

namespace Esb.Core.Parties;

/// <summary>An entry of the section <c>parties</c>: an application or partner, its credentials and its permissions.</summary>
/// <remarks>Each kind of credential is a list, so that a new one can be issued before the old one is revoked.</remarks>
public sealed record PartyConfig : SettingsRecord
{
    /// <summary>Minimum length of keys, in characters; keys need not be memorable.</summary>
    public const int MinKeyLength = 16;

    /// <summary>Maximum bytes, in UTF-8, of an API key, and of a user and a password each: longer values are not examined.</summary>
    public const int MaxSecretBytes = 1024;

    /// <summary>Its API keys, each at least <see cref="MinKeyLength"/> characters, and at most <see cref="MaxSecretBytes"/>.</summary>
    [Setting("Its API keys, of 16 characters to 1024 bytes each.", Secret = true)]
    public IReadOnlyList<string> ApiKeys { get; init; } = [];

    /// <summary>Its users of basic authentication.</summary>
    [Setting("Its users and passwords of basic authentication.")]
    public IReadOnlyList<UserCredentialConfig> Users { get; init; } = [];

    /// <summary>Tokens that identify it.</summary>
    [Setting("Which bearer tokens (JWT) are its own.")]
    public IReadOnlyList<TokenCredentialConfig> Tokens { get; init; } = [];

    /// <summary>Its client certificates.</summary>
    [Setting("Its client certificates, on listeners that ask for them.")]
    public IReadOnlyList<CertificateCredentialConfig> Certificates { get; init; } = [];

    /// <summary>Its keys of signed requests (HMAC), each at least <see cref="MinKeyLength"/> characters.</summary>
    [Setting("The keys that it signs its requests with (HMAC-SHA256), of at least 16 characters each.", Secret = true)]
    public IReadOnlyList<string> SignatureKeys { get; init; } = [];

    /// <summary>Subjects under which it may publish; none by default.</summary>
    [Setting("The subjects that messages of the party may be published under; by default none.")]
    public IReadOnlyList<SubjectPattern> Publish { get; init; } = [];

    /// <summary>Subjects to which endpoints may subscribe on its behalf; none by default.</summary>
    [Setting("The subjects that endpoints of the party may subscribe to; by default none.")]
    public IReadOnlyList<SubjectPattern> Subscribe { get; init; } = [];
}

/// <summary>A user and a password (RFC 7617).</summary>
public sealed record UserCredentialConfig : SettingsRecord
{
    /// <summary>Without a colon; unique over all parties; at most <see cref="PartyConfig.MaxSecretBytes"/>.</summary>
    [Setting("The name of the user, of at most 1024 bytes.")]
    public required string User { get; init; }

    /// <summary>Its password; at most <see cref="PartyConfig.MaxSecretBytes"/>.</summary>
    [Setting("The password, of at most 1024 bytes.", Secret = true)]
    public required string Password { get; init; }
}

/// <summary>Tokens of one issuer (RFC 7519) whose claims identify the party.</summary>
[ExactlyOne("keys", "secret")]
public sealed record TokenCredentialConfig : SettingsRecord
{
    /// <summary>The claim <c>iss</c>.</summary>
    [Setting("Who issues the tokens: the claim iss, exactly.")]
    public required string Issuer { get; init; }

    /// <summary>The claim <c>aud</c>, or one of its values.</summary>
    [Setting("The audience of the tokens: the claim aud, or one of its values.")]
    public required string Audience { get; init; }

    /// <summary>The issuer's public keys; read again when the file changes.</summary>
    [Setting(
        "The issuer's public keys for RS256 and ES256: a JSON Web Key Set, or keys or certificates in PEM. A changed file is read again.",
        IsPath = true
    )]
    public string? Keys { get; init; }

    /// <summary>The key of HS256, at least 32 bytes.</summary>
    [Setting("The key that is shared with the issuer for HS256, of at least 32 bytes.", Secret = true)]
    public string? Secret { get; init; }

    /// <summary>The claims that identify a token of the party; at least one.</summary>
    [Setting("The claims, and their values, by which a token is the party's, such as { \"sub\": \"shop\" }.")]
    public required IReadOnlyDictionary<string, string> Claims { get; init; }

    /// <summary>Maximum clock skew between issuer and host.</summary>
    [Setting("How far the clocks of the issuer and of this host may be apart.", Range = "0s..10m")]
    public TimeSpan Skew { get; init; } = TimeSpan.FromSeconds(30);
}

/// <summary>A client certificate: this exact one, or any with this subject from one authority.</summary>
[ExactlyOne("thumbprint", "subject")]
public sealed record CertificateCredentialConfig : SettingsRecord
{
    /// <summary>SHA-256 of the certificate.</summary>
    [Setting("The SHA-256 fingerprint of the certificate, in 64 hexadecimal digits.")]
    public string? Thumbprint { get; init; }

    /// <summary>The distinguished name.</summary>
    [Setting("The distinguished name that the certificate is made out to, such as \"CN=shop, O=Shop Ltd\".")]
    public string? Subject { get; init; }

    /// <summary>The authorities that must have issued it.</summary>
    [Setting("The certificates, in PEM, of the only authorities that may vouch for that subject.", IsPath = true)]
    public string? Ca { get; init; }
}
