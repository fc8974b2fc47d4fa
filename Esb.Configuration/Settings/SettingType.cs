using System.Text.Json.Nodes;
using Esb.Core.Configuration;

namespace Esb.Configuration.Settings;

/// <summary>How the text of an environment variable is read.</summary>
internal enum VariableForm
{
    /// <summary>As it is.</summary>
    Text,

    /// <summary>As JSON.</summary>
    Json,

    /// <summary>As JSON where it is, otherwise as it is.</summary>
    JsonOrText,
}

/// <summary>How one sort of setting is read from a node, described to people, and found by environment variables.</summary>
internal abstract class SettingType
{
    /// <summary>How an environment variable writes the value.</summary>
    public virtual VariableForm Form => VariableForm.Text;

    /// <summary>Reads a node; null after an error was reported.</summary>
    public abstract object? Read(ConfigNode node, SettingsReader reader);

    /// <summary>A harmless value for a required property that could not be read, so that everything beside it can be checked; null where there is none.</summary>
    public virtual object? StandIn() => null;

    /// <summary>The fragment of JSON Schema that accepts what <see cref="Read"/> does.</summary>
    public abstract JsonObject Describe(SchemaWriter schema);

    /// <summary>The child that a part of an environment variable's name means; null where it means none.</summary>
    public virtual (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog) => null;

    /// <summary>The names that <see cref="Find"/> would find, for hints.</summary>
    public virtual IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) => [];

    /// <summary>What of an object still stands when another is laid over it.</summary>
    public virtual ConfigNode Keep(ConfigNode below, ConfigNode above, SettingsCatalog catalog) => below;

    /// <summary>The long form of a node that may be written as a plain value.</summary>
    public virtual ConfigNode Expand(ConfigNode node) => node;

    /// <summary>How names are compared in environment variables: case does not matter, and <c>_</c> stands for <c>-</c>.</summary>
    protected static bool Means(string part, string name) =>
        string.Equals(part.Replace('_', '-'), name.Replace('_', '-'), StringComparison.OrdinalIgnoreCase);
}

/// <summary>A setting that is one line of <c>esb explain</c>.</summary>
internal abstract class ScalarType : SettingType
{
    public sealed override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (Parse(node, reader) is not { } value) return null;
        reader.Trace(node.Path, Show(node, value), node.Origin);
        return value;
    }

    /// <summary>Reads a node without tracing it; null after an error was reported.</summary>
    public object? Parse(ConfigNode node, SettingsReader reader) => node.IsUnresolved ? null : ParseResolved(node, reader);

    protected abstract object? ParseResolved(ConfigNode node, SettingsReader reader);

    /// <summary>The value as people may see it: as the value that was understood.</summary>
    protected virtual string Show(ConfigNode node, object value) => SettingValue.ToJson(value)?.ToJsonString(JsonStyle.Readable) ?? node.Show();
}
