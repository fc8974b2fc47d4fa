namespace Esb.Core.Configuration.Settings;

/// <summary>Makes a property of a settings record part of the configuration: it is read, checked, defaulted, described by <c>esb schema</c>
/// and shown by <c>esb explain</c>.</summary>
/// <remarks>The configured name is the property's in camel case. The default is the property's initial value; a <c>required</c> property
/// has none.</remarks>
/// <param name="description">One sentence for operators.</param>
[AttributeUsage(AttributeTargets.Property)]
public sealed class SettingAttribute(string description) : Attribute
{
    /// <summary>Error code of an unknown reference if a setting names no other.</summary>
    internal const string DefaultReferenceCode = "ESB-CFG-REFERENCE";

    /// <summary>One sentence for operators.</summary>
    public string Description { get; } = description;

    /// <summary>The configured name, if it cannot be the property's name.</summary>
    public string? Name { get; init; }

    /// <summary>The accepted range, inclusive, in the form of the value: <c>1..1000</c>, <c>1s..1h</c>, <c>1KiB..1GiB</c>.</summary>
    public string? Range { get; init; }

    /// <summary>The section in which the value must be a name.</summary>
    public string? Reference { get; init; }

    /// <summary>True if a plain value in place of the whole object sets this property.</summary>
    public bool Main { get; init; }

    /// <summary>True if the value is a secret: set only by reference or from the environment, and never shown.</summary>
    public bool Secret { get; init; }

    /// <summary>True if a list of values also takes one value that is no list.</summary>
    public bool TakesOne { get; init; }

    /// <summary>True if the value may contain a password (an address, a connection string): that part is treated as a secret.</summary>
    public bool MayHoldPassword { get; init; }

    /// <summary>True if the value is a path, relative to the file that contains it.</summary>
    public bool IsPath { get; init; }

    /// <summary>True if the keys of the object are names that the configuration defines: checked, and unique regardless of case.</summary>
    public bool NamesThings { get; init; }

    /// <summary>True if the text is the name of the configuration itself.</summary>
    public bool NamesConfiguration { get; init; }

    /// <summary>True if the property is designed, but not implemented in this version.</summary>
    public bool Unavailable { get; init; }

    /// <summary>Error code of a <c>${…}</c> that names neither an environment variable nor a file.</summary>
    public string UnknownReferenceCode { get; init; } = DefaultReferenceCode;
}

/// <summary>Restricts a set of properties: at most one of them may be given.</summary>
/// <remarks>On a derived record, a choice that names all properties of an inherited one and more takes its place.</remarks>
public abstract class ChoiceAttribute(bool isRequired, params string[] names) : Attribute
{
    /// <summary>True if one of them must be given.</summary>
    public bool IsRequired { get; } = isRequired;

    /// <summary>The configured names.</summary>
    public IReadOnlyList<string> Names { get; } = names;

    /// <summary>Error code of a violation.</summary>
    public string Code { get; init; } = "ESB-CFG-ONEOF";
}

/// <summary>Exactly one of these properties must be given.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public sealed class ExactlyOneAttribute(params string[] names) : ChoiceAttribute(isRequired: true, names);

/// <summary>At most one of these properties may be given.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public sealed class AtMostOneAttribute(params string[] names) : ChoiceAttribute(isRequired: false, names);

/// <summary>Marks a name of an enumeration that is designed, but not implemented in this version.</summary>
[AttributeUsage(AttributeTargets.Field)]
public sealed class UnavailableAttribute : Attribute;

/// <summary>Error code of a value that is not a name of the enumeration; <c>ESB-CFG-VALUE</c> by default.</summary>
/// <param name="code">Stable: <c>ESB-…</c>.</param>
[AttributeUsage(AttributeTargets.Enum)]
public sealed class ChoiceCodeAttribute(string code) : Attribute
{
    /// <summary>The code.</summary>
    public string Code { get; } = code;
}

/// <summary>A base record whose kinds are distinguished by a property; the kinds are registered as <see cref="SettingsKind"/>.</summary>
/// <param name="discriminator">The property that names the kind.</param>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
public sealed class KindsAttribute(string discriminator) : Attribute
{
    /// <summary>The property that names the kind.</summary>
    public string Discriminator { get; } = discriminator;

    /// <summary>The default kind; null if a kind must be named.</summary>
    public string? Default { get; init; }
}
