using Esb.Core.Configuration.Settings;

namespace Esb.Content.Transforms;

/// <summary>An entry of the section <c>maps</c>.</summary>
public sealed record MapConfig : SettingsRecord
{
    /// <summary>The stylesheet.</summary>
    [Setting("The XSLT 1.0 stylesheet (.xsl); what it includes and imports stands in the same folder or below.", Main = true, IsPath = true)]
    public required string File { get; init; }
}
