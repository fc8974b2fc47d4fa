using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Content.Transforms;

/// <summary>An entry of the section <c>maps</c>.</summary>
public sealed record MapConfig : SettingsRecord
{
    /// <summary>The map; the ending of the name says its language.</summary>
    [Setting(
        "The map: an XSLT 1.0 stylesheet (.xsl; what it includes and imports stands in the same folder or below), a JavaScript "
            + "module (.js) or a Liquid template (.liquid).",
        Main = true,
        IsPath = true
    )]
    public required string File { get; init; }

    /// <summary>The media type of text output; null means <c>text/plain</c>.</summary>
    [Setting(
        "The media type of the text that a JavaScript module or a Liquid template makes; text/plain by default. Liquid escapes "
            + "values by it. A stylesheet says it in xsl:output."
    )]
    public string? ContentType { get; init; }

    /// <summary>Limits of one run; null means the defaults.</summary>
    [Setting("Limits of one run of a JavaScript module or a Liquid template.")]
    public MapLimitsConfig? Limits { get; init; }
}

/// <summary>Limits of one run of a map; a message that exceeds one fails with <c>ESB-JS-LIMIT</c> or <c>ESB-LQD-LIMIT</c>.</summary>
public sealed record MapLimitsConfig : SettingsRecord
{
    /// <summary>The maximum time.</summary>
    [Setting("How long a run may take.", Range = "10ms..60s")]
    public TimeSpan Time { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>The maximum of bytes that a run allocates, including those that are garbage already.</summary>
    [Setting("What a run may allocate, garbage included; of Liquid, the longest text that it may build.", Range = "1MiB..1GiB")]
    public ByteSize Memory { get; init; } = ByteSize.MiB(32);

    /// <summary>The maximum number of statements.</summary>
    [Setting("Statements that a run may execute.", Range = "1000..1000000000")]
    public int Statements { get; init; } = 10_000_000;

    /// <summary>The maximum depth of recursion.</summary>
    [Setting("How deep a function may call itself.", Range = "1..1000")]
    public int Depth { get; init; } = 64;
}
