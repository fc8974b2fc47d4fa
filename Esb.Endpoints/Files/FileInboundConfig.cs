using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Files;

/// <summary>An endpoint that reads the files placed in a folder.</summary>
public sealed record FileInboundConfig : InboundEndpointConfig
{
    /// <summary>The folder to read files from.</summary>
    [Setting("The folder whose files are read; made at the start where it is missing.", IsPath = true)]
    public required string Folder { get; init; }

    /// <summary>The pattern of the names to read.</summary>
    [Setting("The names that are read: * stands for any characters, ? for one. Hidden files and *.tmp and *.part never are.")]
    public string Pattern { get; init; } = "*";

    /// <summary>The longest interval between two scans of the folder.</summary>
    [Setting("How often the folder is looked through, beside being watched.", Range = "10ms..1h")]
    public TimeSpan Interval { get; init; } = TimeSpan.FromSeconds(1);

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

    /// <summary>The number of files handed over concurrently.</summary>
    [Setting("Files handed over at once.", Range = "1..1000")]
    public int MaxConcurrentCalls { get; init; } = 1;

    public override int? CallsAtOnce => MaxConcurrentCalls;

    /// <summary>How files are handed to the process.</summary>
    [Setting(
        "Whether a file is held in memory as a whole, or is read piece by piece by split, or by a call of an endpoint that writes files."
    )]
    public BodyTransfer Transfer { get; init; }

    public override BodyTransfer BodyTransfer => Transfer;

    /// <summary>The largest file; null for that of <c>limits</c>.</summary>
    [Setting("The largest file that is taken in, beside \"transfer\": \"streamed\"; by default maxBodySize of limits.", Range = "1B..4GiB")]
    public ByteSize? MaxBodySize { get; init; }

    /// <summary>The folder for files whose message has arrived; null for <c>done</c> in the folder.</summary>
    [Setting("Where files go whose message has arrived; by default the folder done inside the folder.", IsPath = true)]
    public string? Done { get; init; }

    /// <summary>The folder for refused files; null for <c>error</c> in the folder.</summary>
    [Setting("The folder for refused files, with a text beside each; by default the folder error inside the folder.", IsPath = true)]
    public string? Error { get; init; }

    /// <inheritdoc/>
    public override string? Address => IsSound("folder") ? Folder : null;

    internal string DoneFolder => Done ?? System.IO.Path.Combine(Folder, "done");

    internal string ErrorFolder => Error ?? System.IO.Path.Combine(Folder, "error");
}
