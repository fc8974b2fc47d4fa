using System.Text.Json.Nodes;
using Esb.Core.Configuration;

namespace Esb.Configuration.Settings;

/// <summary>The way in which the text of an environment variable is read.</summary>
internal enum VariableForm
{
    /// <summary>As is.</summary>
    Text,

    /// <summary>As JSON.</summary>
    Json,

    /// <summary>As JSON if it is valid JSON, otherwise as is.</summary>
    JsonOrText,
}

/// <summary>Reads one sort of setting from a node, describes it to users, and resolves it for environment variables.</summary>
internal abstract class SettingType
{
    /// <summary>The form in which an environment variable holds the value.</summary>
    public virtual VariableForm Form => VariableForm.Text;

    /// <summary>Reads a node; null after an error was reported.</summary>
    public abstract object? Read(ConfigNode node, SettingsReader reader);

    /// <summary>Returns a harmless value for a required property that could not be read, so that all others can be checked; null if the
    /// type has none.</summary>
    public virtual object? StandIn() => null;

    /// <summary>Returns the fragment of JSON Schema that accepts the same input as <see cref="Read"/>.</summary>
    public abstract JsonObject Describe(SchemaWriter schema);

    /// <summary>Returns the child that a part of an environment variable's name refers to; null if no child matches.</summary>
    public virtual (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog) => null;

    /// <summary>Returns the names that <see cref="Find"/> accepts, for hints.</summary>
    public virtual IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) => [];

    /// <summary>Returns the object without the members that must go when another object is laid over it.</summary>
    public virtual ConfigNode Keep(ConfigNode below, ConfigNode above, SettingsCatalog catalog) => below;

    /// <summary>Returns the long form of a node that may be written as a plain value.</summary>
    public virtual ConfigNode Expand(ConfigNode node) => node;

    /// <summary>Compares names for environment variables: case-insensitive, with <c>_</c> standing for <c>-</c>.</summary>
    protected static bool Means(string part, string name) =>
        string.Equals(part.Replace('_', '-'), name.Replace('_', '-'), StringComparison.OrdinalIgnoreCase);
}

/// <summary>A setting that is one line of <c>esb explain</c>.</summary>
internal abstract class ScalarType : SettingType
{
    public sealed override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (Parse(node, reader) is not { } value)
            return null;
        reader.Trace(node.Path, Show(node, value), node.Origin);
        return value;
    }

    /// <summary>Reads a node without tracing it; null after an error was reported.</summary>
    public object? Parse(ConfigNode node, SettingsReader reader) => node.IsUnresolved ? null : ParseResolved(node, reader);

    protected abstract object? ParseResolved(ConfigNode node, SettingsReader reader);

    /// <summary>Returns the value for display, in its parsed form.</summary>
    protected virtual string Show(ConfigNode node, object value) =>
        SettingValue.ToJson(value)?.ToJsonString(JsonStyle.Readable) ?? node.Show();
}
