using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;

namespace Esb.Endpoints.Mail;

/// <summary>An endpoint that sends a mail for each message.</summary>
public sealed record MailOutboundConfig : OutboundEndpointConfig
{
    /// <summary>The server.</summary>
    [Setting(
        "The mail server: smtp://host:587 (STARTTLS) or smtps://host:465 (TLS from the first byte). Never taken from a message.",
        MayHoldPassword = true
    )]
    public required string Url { get; init; }

    /// <summary>The user; null to send without authentication.</summary>
    [Setting("The user at the server; without one the endpoint does not authenticate.")]
    public string? User { get; init; }

    /// <summary>The password.</summary>
    [Setting("The password of the user.", Secret = true)]
    public string? Password { get; init; }

    /// <summary>Encryption of the connection.</summary>
    [Setting("Whether the connection must be encrypted; \"required\" by default, and nothing is sent where the server does not offer it.")]
    public MailTlsConfig Tls { get; init; } = new();

    /// <summary>The sender.</summary>
    [Setting("The sender: one address, a text with places for values.")]
    public required string From { get; init; }

    /// <summary>The recipients.</summary>
    [Setting(
        "The recipients: a text with places for values, or a list of them; each may give several addresses, separated by commas.",
        TakesOne = true
    )]
    public required IReadOnlyList<string> To { get; init; }

    /// <summary>Further recipients.</summary>
    [Setting("Further recipients, written as to.", TakesOne = true)]
    public IReadOnlyList<string> Cc { get; init; } = [];

    /// <summary>Recipients that the others do not see.</summary>
    [Setting("Recipients that the others do not see, written as to.", TakesOne = true)]
    public IReadOnlyList<string> Bcc { get; init; } = [];

    /// <summary>The subject.</summary>
    [Setting("The subject: a text with places for values.")]
    public string Subject { get; init; } = "";

    /// <summary>The plain text; null for none.</summary>
    [Setting("The plain text of the mail: a text with places for values, or { \"map\": \"NAME\" }.")]
    public MailContentConfig? Text { get; init; }

    /// <summary>The HTML text; null for none.</summary>
    [Setting("The HTML text of the mail, written as text.")]
    public MailContentConfig? Html { get; init; }

    /// <summary>The attachments.</summary>
    [Setting("The attachments. Without text, html and attachments a text body is the text of the mail, any other body its attachment.")]
    public IReadOnlyList<MailAttachmentConfig> Attachments { get; init; } = [];

    /// <summary>Domains that may receive mail; empty for all.</summary>
    [Setting("The domains that may receive mail: example.com, or *.example.com for those below it; all by default.")]
    public IReadOnlyList<string> Allow { get; init; } = [];

    /// <inheritdoc/>
    public override IReadOnlyList<string> AddressPaths => [$"{Path}.url"];
}

/// <summary>Encryption of a connection to a mail server.</summary>
public enum MailTlsMode
{
    /// <summary>smtps, or STARTTLS.</summary>
    Required,

    /// <summary>No encryption.</summary>
    None,
}

/// <summary>Encryption of a connection to a mail server, and the trust in the server.</summary>
public sealed record MailTlsConfig : SettingsRecord
{
    /// <summary>Encryption.</summary>
    [Setting("Whether the connection is encrypted: always, or never.", Main = true)]
    public MailTlsMode Mode { get; init; }

    /// <summary>The only trusted authorities; null for those of the system.</summary>
    [Setting(
        "The certificates, in PEM, of the only authorities that may vouch for the mail server; those of the system where none are named.",
        IsPath = true
    )]
    public string? Ca { get; init; }

    /// <summary>The name required in the server's certificate; null for the host of the address.</summary>
    [Setting("The name that the mail server's certificate must be made out to; by default the host of the url.")]
    public string? ServerName { get; init; }
}

/// <summary>A text of a mail.</summary>
[ExactlyOne("template", "map")]
public sealed record MailContentConfig : SettingsRecord
{
    /// <summary>A template.</summary>
    [Setting("A text with places for values.", Main = true)]
    public string? Template { get; init; }

    /// <summary>A map.</summary>
    [Setting("The map whose output is the text; its input is the body of the message.", Reference = "maps")]
    public string? Map { get; init; }
}

/// <summary>An attachment of a mail.</summary>
public sealed record MailAttachmentConfig : SettingsRecord
{
    /// <summary>The file name.</summary>
    [Setting("The file name: a text with places for values.", Name = "name")]
    public required string FileName { get; init; }

    /// <summary>The content.</summary>
    [Setting("The content.")]
    public required ValueConfig Body { get; init; }

    /// <summary>The media type.</summary>
    [Setting("The media type.")]
    public string ContentType { get; init; } = "application/octet-stream";
}
