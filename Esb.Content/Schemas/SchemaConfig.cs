using Esb.Core.Configuration.Settings;

namespace Esb.Content.Schemas;

/// <summary>An entry of the section <c>schemas</c>.</summary>
public sealed record SchemaConfig : SettingsRecord
{
    /// <summary>The XML Schema or JSON Schema.</summary>
    [Setting(
        "The XML Schema (.xsd), or JSON Schema 2020-12 (.json); what it includes, imports or refers to stands in the same folder or below.",
        Main = true,
        IsPath = true
    )]
    public required string File { get; init; }

    /// <summary>Whether <c>format</c> of a JSON Schema is checked.</summary>
    [Setting("Whether format of a JSON Schema only describes (annotate), or is checked (assert).")]
    public FormatMode Formats { get; init; } = FormatMode.Annotate;
}

/// <summary>Meanings of <c>format</c> in a JSON Schema.</summary>
public enum FormatMode
{
    /// <summary>It describes values and is not checked.</summary>
    Annotate,

    /// <summary>Values must have the format, unless it is unknown.</summary>
    Assert,
}
