using System.Text.Json.Nodes;

namespace Esb.Core.Configuration.Settings;

/// <summary>How one sort of setting is read from a node, described to people, and found by environment variables.</summary>
internal abstract class SettingType
{
    /// <summary>Reads a node; null after an error was reported.</summary>
    public abstract object? Read(ConfigNode node, SettingsReader reader);

    /// <summary>The fragment of JSON Schema that accepts what <see cref="Read"/> does.</summary>
    public abstract JsonObject Describe(SchemaWriter schema);

    /// <summary>The child that a part of an environment variable's name means; null where it means none.</summary>
    public virtual (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog) => null;

    /// <summary>The names that <see cref="Find"/> would find, for hints.</summary>
    public virtual IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) => [];

    /// <summary>The long form of a node that may be written as a plain value.</summary>
    public virtual ConfigNode Expand(ConfigNode node) => node;

    /// <summary>Whether an environment variable's text stands for JSON.</summary>
    public virtual bool IsWrittenAsJson => false;

    /// <summary>How names are compared in environment variables: case does not matter, and <c>_</c> stands for <c>-</c>.</summary>
    protected static bool Means(string part, string name) =>
        string.Equals(part.Replace('_', '-'), name.Replace('_', '-'), StringComparison.OrdinalIgnoreCase);
}
