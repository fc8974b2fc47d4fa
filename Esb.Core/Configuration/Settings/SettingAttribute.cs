namespace Esb.Core.Configuration.Settings;

/// <summary>Makes a property of a settings record part of the configuration: it is read, checked, defaulted, described by <c>esb schema</c> and shown by <c>esb explain</c>.</summary>
/// <remarks>The configured name is the property's in camel case. The default is the property's initial value; a <c>required</c> property has none.</remarks>
/// <param name="description">One sentence for the people who configure.</param>
[AttributeUsage(AttributeTargets.Property)]
public sealed class SettingAttribute(string description) : Attribute
{
    /// <summary>The code of an unknown reference where a setting names no other.</summary>
    internal const string DefaultReferenceCode = "ESB-CFG-REFERENCE";

    /// <summary>One sentence for the people who configure.</summary>
    public string Description { get; } = description;

    /// <summary>The configured name, where it cannot be that of the property.</summary>
    public string? Name { get; init; }

    /// <summary>The accepted range, both ends included, in the form of the value: <c>1..1000</c>, <c>1s..1h</c>, <c>1KiB..1GiB</c>.</summary>
    public string? Range { get; init; }

    /// <summary>The section whose names the value must be one of.</summary>
    public string? Reference { get; init; }

    /// <summary>Whether a plain value in place of the whole object means this property.</summary>
    public bool Main { get; init; }

    /// <summary>Whether the value is a secret: it comes by reference or from the environment only, and is never shown.</summary>
    public bool Secret { get; init; }

    /// <summary>Whether the value may hold a password among other things (an address, a connection string): that part is treated as a secret.</summary>
    public bool MayHoldPassword { get; init; }

    /// <summary>Whether the value is a path, relative to the file that names it.</summary>
    public bool IsPath { get; init; }

    /// <summary>Whether the keys of the object are names of the configuration's own things: checked, and unique whatever their case.</summary>
    public bool NamesThings { get; init; }

    /// <summary>Whether the text is the name of the configuration itself.</summary>
    public bool NamesConfiguration { get; init; }

    /// <summary>Whether the design knows the property, but this version cannot do it yet.</summary>
    public bool Unavailable { get; init; }

    /// <summary>The error code for a <c>${…}</c> that is neither an environment variable nor a file.</summary>
    public string UnknownReferenceCode { get; init; } = DefaultReferenceCode;
}

/// <summary>Of these properties not more than one may be given.</summary>
public abstract class ChoiceAttribute(bool isRequired, params string[] names) : Attribute
{
    /// <summary>Whether one of them must be given.</summary>
    public bool IsRequired { get; } = isRequired;

    /// <summary>The configured names.</summary>
    public IReadOnlyList<string> Names { get; } = names;

    /// <summary>The code of the error where it is otherwise.</summary>
    public string Code { get; init; } = "ESB-CFG-ONEOF";
}

/// <summary>Exactly one of these properties must be given.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public sealed class ExactlyOneAttribute(params string[] names) : ChoiceAttribute(isRequired: true, names);

/// <summary>At most one of these properties may be given.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public sealed class AtMostOneAttribute(params string[] names) : ChoiceAttribute(isRequired: false, names);

/// <summary>A name of an enumeration that the design knows, but that this version cannot do yet.</summary>
[AttributeUsage(AttributeTargets.Field)]
public sealed class UnavailableAttribute : Attribute;

/// <summary>The code of the error where a value is none of the names of an enumeration; <c>ESB-CFG-VALUE</c> otherwise.</summary>
/// <param name="code">Stable: <c>ESB-…</c>.</param>
[AttributeUsage(AttributeTargets.Enum)]
public sealed class ChoiceCodeAttribute(string code) : Attribute
{
    /// <summary>The code.</summary>
    public string Code { get; } = code;
}

/// <summary>A base record whose kinds are told apart by a property; the kinds are registered as <see cref="SettingsKind"/>.</summary>
/// <param name="discriminator">The property that names the kind.</param>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
public sealed class KindsAttribute(string discriminator) : Attribute
{
    /// <summary>The property that names the kind.</summary>
    public string Discriminator { get; } = discriminator;

    /// <summary>The kind where none is named; null where one must be.</summary>
    public string? Default { get; init; }
}
