using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Connections;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>An endpoint that takes the files of a folder on an SFTP server.</summary>
public sealed record SftpInboundConfig : InboundEndpointConfig, ISftpServer
{
    /// <summary>The server and the folder.</summary>
    [Setting("The folder: sftp://user@host:22/absolute/folder, or /~/folder for one of the user's home.", MayHoldPassword = true)]
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

    /// <summary>The pattern of the names to read.</summary>
    [Setting("The names that are read: * stands for any characters, ? for one. Hidden files and *.tmp and *.part never are.")]
    public string Pattern { get; init; } = "*";

    /// <summary>The pause between two scans of the folder.</summary>
    [Setting("How often the folder is looked through.", Range = "100ms..24h")]
    public TimeSpan Interval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>The action on a file whose message has arrived; null for deletion, or for none with
    /// <see cref="SftpClaimRule.None"/>.</summary>
    [Setting(
        "What happens to a file whose message has arrived: delete (default), or move:FOLDER with a folder relative to that of the "
            + "url; made where it is missing."
    )]
    public string? After { get; init; }

    /// <summary>The folder of refused files.</summary>
    [Setting("The folder for refused files, with a text beside each: a folder relative to the url's; made where it is missing.")]
    public string Error { get; init; } = "error";

    /// <summary>How files are claimed.</summary>
    [Setting(
        "How a file is claimed: rename moves it to .esb/NAME first; none changes nothing on the server, and the store remembers "
            + "what was taken."
    )]
    public SftpClaimRule Claim { get; init; }

    /// <summary>The time for which taken files are remembered.</summary>
    [Setting(
        "How long the store remembers what was taken with claim none; a file that is still there then is taken again.",
        Range = "1h..3650d"
    )]
    public TimeSpan Remember { get; init; } = TimeSpan.FromDays(90);

    /// <summary>The trigger file; null for none.</summary>
    [Setting("The trigger file without which a file is not read, such as \"{name}.ok\"; it goes with the file.")]
    public string? Ready { get; init; }

    /// <summary>The order of waiting files.</summary>
    [Setting("The order in which waiting files are taken.")]
    public FileOrder Order { get; init; }

    /// <summary>The time for which a file must be unchanged.</summary>
    [Setting("How old a file must be, by the time of its last change.", Range = "0ms..30d")]
    public TimeSpan MinimumAge { get; init; } = TimeSpan.Zero;

    /// <summary>True if folders below are read as well.</summary>
    [Setting("Whether the folders below are read as well; links are never followed.")]
    public bool Recursive { get; init; }

    /// <summary>The maximum number of files per scan.</summary>
    [Setting("Files found at once; others wait for the next look. Bounds the memory of a look.", Range = "1..100000")]
    public int MaxFiles { get; init; } = 4_000;

    /// <summary>The number of files handed over concurrently.</summary>
    [Setting("Files handed over at once.", Range = "1..1000")]
    public int MaxConcurrentCalls { get; init; } = 1;

    /// <summary>The maximum number of sessions.</summary>
    [Setting("Sessions with the server at once.", Range = "1..100")]
    public int PoolSize { get; init; } = 1;

    /// <summary>How files are handed to the process.</summary>
    [Setting(
        "Whether a file is held in memory as a whole, or is read from the server piece by piece: by split, or by a call of an endpoint "
            + "that takes streams. It then has one of the sessions until its process has ended."
    )]
    public BodyTransfer Transfer { get; init; }

    /// <inheritdoc/>
    public override BodyTransfer BodyTransfer => Transfer;

    /// <summary>The largest file; null for that of <c>limits</c>.</summary>
    [Setting("The largest file that is taken in, beside \"transfer\": \"streamed\"; by default maxBodySize of limits.", Range = "1B..4GiB")]
    public ByteSize? MaxBodySize { get; init; }

    /// <inheritdoc/>
    [Setting("Whether only one host of the farm at a time polls the folder. Hosts that poll at once would take over each other's claims.")]
    public override bool SingleInstance { get; init; } = true;

    /// <inheritdoc/>
    public override int? CallsAtOnce => MaxConcurrentCalls;

    /// <inheritdoc/>
    public override IReadOnlyList<string> AddressPaths => [$"{Path}.url"];
}
