using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;

namespace Esb.Endpoints.Files;

/// <summary>The action if the file exists already with different bytes.</summary>
public enum FileExistsRule
{
    /// <summary>The delivery fails.</summary>
    Fail,

    /// <summary>The new file replaces the old one atomically.</summary>
    Replace,

    /// <summary>The new file gets a unique name.</summary>
    Unique,
}

/// <summary>An endpoint that writes each message to its own file.</summary>
public sealed record FileOutboundConfig : OutboundEndpointConfig
{
    /// <summary>The folder to write to.</summary>
    [Setting("The folder that files are written to; made at the start where it is missing.", IsPath = true)]
    public required string Folder { get; init; }

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
    public override string? Address => IsSound("folder") ? Folder : null;
}
