using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Files;

/// <summary>An endpoint that reads the files that are put into a folder.</summary>
public sealed record FileInboundConfig : InboundEndpointConfig
{
    /// <summary>Where files are looked for.</summary>
    [Setting("The folder whose files are read; made at the start where it is missing.", IsPath = true)]
    public required string Folder { get; init; }

    /// <summary>Which names are read.</summary>
    [Setting("The names that are read: * stands for any characters, ? for one. Hidden files and *.tmp and *.part never are.")]
    public string Pattern { get; init; } = "*";

    /// <summary>How often the folder is looked through at least.</summary>
    [Setting("How often the folder is looked through, beside being watched.", Range = "10ms..1h")]
    public TimeSpan Interval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Files handed over at once.</summary>
    [Setting("Files handed over at once.", Range = "1..1000")]
    public int MaxConcurrentCalls { get; init; } = 1;

    public override int? CallsAtOnce => MaxConcurrentCalls;

    /// <summary>Where files go whose message has arrived; null for <c>done</c> in the folder.</summary>
    [Setting("Where files go whose message has arrived; by default the folder done inside the folder.", IsPath = true)]
    public string? Done { get; init; }

    /// <summary>Where refused files go; null for <c>error</c> in the folder.</summary>
    [Setting("Where refused files go, with a text beside each; by default the folder error inside the folder.", IsPath = true)]
    public string? Error { get; init; }

    /// <inheritdoc/>
    public override string? Address => IsSound("folder") ? Folder : null;

    internal string DoneFolder => Done ?? System.IO.Path.Combine(Folder, "done");

    internal string ErrorFolder => Error ?? System.IO.Path.Combine(Folder, "error");
}
