using Esb.Configuration.Compiling;
using Esb.Core.Configuration;

namespace Esb.Content.Schemas;

/// <summary>A schema as its files were when it was compiled. Immutable.</summary>
/// <param name="Schema">The compiled schema.</param>
/// <param name="Paths">Every file that it consists of.</param>
/// <param name="ContentHash">The same for files of the same names and bytes.</param>
/// <param name="Stamp">What the files looked like before they were read, as <see cref="Transforms.ContentStamp"/> of the paths.</param>
/// <param name="Recompile">Compiles the schema from changed files, in the same way; null after errors.</param>
internal sealed record SchemaModel(
    IMessageSchema Schema,
    IReadOnlyList<string> Paths,
    string ContentHash,
    string Stamp,
    Func<ConfigErrors, SchemaModel?> Recompile
);

/// <summary>The schemas of a configuration, for steps that are compiled. Immutable.</summary>
public sealed class SchemaModels : IFileContents
{
    internal SchemaModels(IReadOnlyDictionary<string, SchemaModel> all) => All = all;

    /// <inheritdoc/>
    public string ContentHash =>
        Fingerprint.Of(All.Select(schema => $"{schema.Key} {schema.Value.ContentHash}").Order(StringComparer.Ordinal));

    /// <inheritdoc/>
    public IEnumerable<string> Paths => All.Values.SelectMany(schema => schema.Paths);

    internal IReadOnlyDictionary<string, SchemaModel> All { get; }

    /// <summary>True if there is a compiled schema with this name; what could not be compiled has been reported.</summary>
    public bool Has(string name) => All.ContainsKey(name);

    /// <summary>The schema with this name, as it was compiled; null if it does not exist or could not be compiled.</summary>
    public IMessageSchema? Find(string name) => All.GetValueOrDefault(name)?.Schema;

    /// <summary>True if it is a JSON Schema.</summary>
    public bool IsJson(string name) => All.GetValueOrDefault(name)?.Schema is Json.JsonMessageSchema;
}
