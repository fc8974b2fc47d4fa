using System.Text.Json.Serialization;
using Esb.Core.Configuration.Settings;

namespace Esb.Content.Formats.Fields;

/// <summary>What a field of a record holds.</summary>
public abstract record FieldConfig : SettingsRecord
{
    /// <summary>The type.</summary>
    [Setting("What the field holds; dates and times are ISO 8601 in JSON.", Main = true)]
    public FieldKind Type { get; init; }

    /// <summary>The pattern of a date or time.</summary>
    [Setting(
        "How a date or time is written, in the letters of .NET, such as \"dd.MM.yyyy\"; the invariant culture always. By default ISO 8601."
    )]
    public string? Format { get; init; }

    /// <summary>The decimal separator.</summary>
    [Setting("The character before the fraction of a decimal. Digits are never grouped.")]
    public string DecimalSeparator { get; init; } = ".";

    /// <summary>The text of true.</summary>
    [Setting("How a boolean that is true is written.", Name = "true")]
    public string TrueText { get; init; } = "true";

    /// <summary>The text of false.</summary>
    [Setting("How a boolean that is false is written.", Name = "false")]
    public string FalseText { get; init; } = "false";

    /// <summary>True if the field may be empty although its type has no empty value.</summary>
    [Setting("Whether a field that is not a string may be empty; it is then absent in JSON.")]
    public bool Optional { get; init; }
}

/// <summary>Types of fields.</summary>
public enum FieldKind
{
    /// <summary>A text.</summary>
    String,

    /// <summary>A whole number of any length.</summary>
    Integer,

    /// <summary>A decimal number that keeps its digits.</summary>
    Decimal,

    /// <summary>True or false.</summary>
    Boolean,

    /// <summary>A date.</summary>
    Date,

    /// <summary>A time of day.</summary>
    Time,

    /// <summary>A date with a time.</summary>
    [JsonStringEnumMemberName("dateTime")]
    DateTime,
}
