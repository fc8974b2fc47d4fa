using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Files;

/// <summary>What becomes of a message whose file exists already, with other bytes.</summary>
public enum FileExistsRule
{
    /// <summary>It fails.</summary>
    Fail,

    /// <summary>Its file takes the place of the old one, at once and whole.</summary>
    Replace,

    /// <summary>Its file gets a name of its own.</summary>
    Unique,
}

/// <summary>An endpoint that writes each message to a file of its own.</summary>
public sealed record FileOutboundConfig : OutboundEndpointConfig
{
    /// <summary>Where the files are written.</summary>
    [Setting("The folder that files are written to; made at the start where it is missing.", IsPath = true)]
    public required string Folder { get; init; }

    /// <summary>The template of the files' names.</summary>
    [Setting("The name of each file: a text with places for values, such as \"{message.key}-{header.x-order}.xml\".")]
    public required string FileName { get; init; }

    /// <summary>What becomes of a message whose file exists already; one with the same bytes counts as delivered.</summary>
    [Setting("What is done where the file exists with other bytes; one with the same bytes counts as delivered.")]
    public FileExistsRule IfExists { get; init; }

    /// <inheritdoc/>
    public override string? Address => IsSound("folder") ? Folder : null;
}
