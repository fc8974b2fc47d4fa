namespace Esb.Core.Configuration.Settings;

/// <summary>A kind of endpoint, step, transport or store, as named in the configuration.</summary>
/// <param name="Base">The settings record from which all kinds of the sort derive; <c>StepConfig</c> for steps.</param>
/// <param name="Kind">The name in the configuration.</param>
/// <param name="Settings">The settings record; null if the kind is designed, but not implemented in this version.</param>
/// <param name="Description">One sentence for operators.</param>
public sealed record SettingsKind(Type Base, string Kind, Type? Settings, string Description);

/// <summary>A top-level section of the configuration.</summary>
/// <param name="Name">The name in the configuration.</param>
/// <param name="Settings">A settings record, or <c>IReadOnlyDictionary&lt;string, T&gt;</c> for a section of named things; null if not
/// implemented in this version.</param>
/// <param name="Description">One sentence for operators.</param>
/// <param name="Default">The default of an absent section, as JSON.</param>
public sealed record ConfigSection(string Name, Type? Settings, string Description, string Default = "{}")
{
    /// <summary>True if it cannot change while the bus runs.</summary>
    public bool NeedsRestart { get; init; }
}

/// <summary>A value written as text that parses itself, such as a subject.</summary>
public interface ITextSetting<TSelf>
    where TSelf : ITextSetting<TSelf>
{
    /// <summary>The error code when the text cannot be parsed.</summary>
    static abstract string Code { get; }

    /// <summary>The accepted form, as the end of a sentence.</summary>
    static abstract string Expected { get; }

    /// <summary>True if the value may also be written as a number.</summary>
    static virtual bool TakesNumbers => false;

    /// <summary>Parses the text; null if it is malformed.</summary>
    static abstract TSelf? Parse(string text);

    /// <summary>The name in another section to which the value refers; null if none.</summary>
    (string Section, string Name)? Reference { get; }
}

/// <summary>Settings of a section that cannot change while the bus runs, although others of the section can.</summary>
/// <param name="Section">The name of the section.</param>
/// <param name="Settings">Their names.</param>
public sealed record FixedSettings(string Section, IReadOnlyList<string> Settings);
