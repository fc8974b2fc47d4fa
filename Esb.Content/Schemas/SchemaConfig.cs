using Esb.Core.Configuration.Settings;

namespace Esb.Content.Schemas;

/// <summary>An entry of the section <c>schemas</c>.</summary>
public sealed record SchemaConfig : SettingsRecord
{
    /// <summary>The XML Schema.</summary>
    [Setting("The XML Schema (.xsd); what it includes and imports stands in the same folder or below.", Main = true, IsPath = true)]
    public required string File { get; init; }
}
