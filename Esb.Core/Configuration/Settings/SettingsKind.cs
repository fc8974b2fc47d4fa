namespace Esb.Core.Configuration.Settings;

/// <summary>A kind of endpoint, step, transport or store, as the configuration names it.</summary>
/// <param name="Base">The settings record that all kinds of the sort derive from; <c>StepConfig</c> for steps.</param>
/// <param name="Kind">The name in the configuration.</param>
/// <param name="Settings">The settings record; null where the kind is designed but this version cannot do it yet.</param>
/// <param name="Description">One sentence for the people who configure.</param>
public sealed record SettingsKind(Type Base, string Kind, Type? Settings, string Description);

/// <summary>A top-level section of the configuration.</summary>
/// <param name="Name">The name in the configuration.</param>
/// <param name="Settings">A settings record, or <c>IReadOnlyDictionary&lt;string, T&gt;</c> for a section of named things; null where this version cannot do it yet.</param>
/// <param name="Description">One sentence for the people who configure.</param>
/// <param name="Default">What stands where nothing was written, as JSON.</param>
public sealed record ConfigSection(string Name, Type? Settings, string Description, string Default = "{}")
{
    /// <summary>Whether it cannot change while the bus runs.</summary>
    public bool NeedsRestart { get; init; }
}

/// <summary>A value written as text that parses itself, such as a subject.</summary>
public interface ITextSetting<TSelf>
    where TSelf : ITextSetting<TSelf>
{
    /// <summary>The error code when the text cannot be parsed.</summary>
    static abstract string Code { get; }

    /// <summary>What is accepted, as the end of a sentence.</summary>
    static abstract string Expected { get; }

    /// <summary>Parses the text; null when it is none of its kind.</summary>
    static abstract TSelf? Parse(string text);

    /// <summary>The name in another section that the value refers to; null where it refers to none.</summary>
    (string Section, string Name)? Reference { get; }
}

/// <summary>Settings of a section that cannot change while the bus runs, where others of it can.</summary>
/// <param name="Section">The name of the section.</param>
/// <param name="Settings">Their names.</param>
public sealed record FixedSettings(string Section, IReadOnlyList<string> Settings);
