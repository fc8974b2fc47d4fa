using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Connections;

namespace Esb.Endpoints.Sftp.Outbound;

/// <summary>An endpoint that writes each message to its own file on an SFTP server.</summary>
public sealed record SftpOutboundConfig : OutboundEndpointConfig, ISftpServer
{
    /// <summary>The server and the folder.</summary>
    [Setting(
        "The folder: sftp://user@host:22/absolute/folder, or /~/folder for one of the user's home. It must exist.",
        MayHoldPassword = true
    )]
    public required string Url { get; init; }

    /// <summary>The password.</summary>
    [Setting("The password of the user; this or privateKey.", Secret = true)]
    public string? Password { get; init; }

    /// <summary>The private key.</summary>
    [Setting("The text of the user's private key, in OpenSSH or PEM form.", Secret = true)]
    public string? PrivateKey { get; init; }

    /// <summary>The passphrase of the private key.</summary>
    [Setting("The passphrase of the private key, if it has one.", Secret = true)]
    public string? Passphrase { get; init; }

    /// <summary>The fingerprints of the server's keys.</summary>
    [Setting(
        "The fingerprint of the server's key, such as SHA256:KEY, as ssh-keygen -lf prints it, or a list of them. A server with "
            + "another key is refused.",
        TakesOne = true
    )]
    public required IReadOnlyList<string> HostKey { get; init; }

    /// <summary>The template of the file names.</summary>
    [Setting("The name of each file: a text with places for values, such as \"{message.key}-{header.x-order}.xml\".")]
    public required string FileName { get; init; }

    /// <summary>The action if the file exists already; a file with the same bytes counts as delivered.</summary>
    [Setting("What is done where the file exists with other bytes; one with the same bytes counts as delivered.")]
    public FileExistsRule IfExists { get; init; }

    /// <inheritdoc/>
    public override bool TakesStreams => PreparedBy is null && !BodyReads.InTemplate(FileName);

    /// <inheritdoc/>
    public override IEnumerable<PropertyUse> PropertyUses =>
        PropertyNames.InTemplate(FileName).Select(name => new PropertyUse("fileName", name));

    /// <inheritdoc/>
    public override IReadOnlyList<string> AddressPaths => [$"{Path}.url"];
}
