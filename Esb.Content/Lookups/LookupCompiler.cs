using Esb.Configuration.Compiling;
using Esb.Content.Formats;
using Esb.Content.Formats.Csv;
using Esb.Content.Xml;
using Esb.Core.Configuration;

namespace Esb.Content.Lookups;

/// <summary>Compiles the section <c>lookups</c>: reads each file once, and reports those that cannot be used.</summary>
internal sealed class LookupCompiler(
    IReadOnlyDictionary<string, LookupConfig> lookups,
    FormatModels formats,
    ConfigErrors errors,
    TimeProvider time
) : ICompiler<LookupModels>
{
    private const string Code = "ESB-CFG-LOOKUP";

    public LookupModels Compile()
    {
        var compiled = new Dictionary<string, ILookup>();
        foreach (var (name, config) in lookups)
        {
            if (Compile(name, config) is { } lookup)
                compiled[name] = lookup;
        }

        return new LookupModels(compiled, compiled.Count == lookups.Count);
    }

    private ILookup? Compile(string name, LookupConfig config)
    {
        var isFile = config.File is not null;
        foreach (var (property, isGiven) in new[] { ("key", config.Key is not null), ("format", config.Format is not null) })
        {
            if (isGiven && !isFile)
                errors.Add("ESB-CFG-VALUE", config, property, "only beside file");
        }

        if (isFile && config.Query is not null)
            errors.Add("ESB-CFG-VALUE", config, "query", "only beside connection");
        if (isFile)
            return CompileFile(name, config, new ContentFile(config, config.File!, errors));
        if (config.Query is null && config.IsSound("query", "connection"))
            errors.Add("ESB-CFG-REQUIRED", config, "query", "expected the query that finds the entry of @key");
        return config is { IsWhole: true, Query: not null } ? new SqlLookup(config, time) : null;
    }

    private FileLookup? CompileFile(string name, LookupConfig config, ContentFile file)
    {
        if (!file.IsUsable(jsonKind: null))
            return null;
        var format = config.Format is { } named ? formats.Find(named) : CsvCompiler.Compile(name, new CsvFormatConfig(), errors);
        if (format is null)
            return null; // reported
        if (!format.HasRecords)
        {
            errors.Add(Code, config, "format", "expected a format whose records are single, such as csv, json-lines, or flat with an item");
            return null;
        }

        try
        {
            var content = LookupFile.Read(file.Path, format, config.Key);
            return new FileLookup(name, file.Path, content, () => LookupFile.Read(file.Path, format, config.Key));
        }
        catch (LookupFileException ex)
        {
            file.Report(Code, ex.Message);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            file.Report(Code, $"cannot be read: {ex.Message}");
        }

        return null;
    }
}
