using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Content.Formats.Csv;
using Esb.Content.Formats.Flat;
using Esb.Content.Formats.JsonLines;
using Esb.Core.Configuration;

namespace Esb.Content.Formats;

/// <summary>Compiles the section <c>formats</c>, each format once, and reports those that cannot be used.</summary>
internal sealed class FormatCompiler(
    IReadOnlyDictionary<string, FormatConfig> formats,
    LimitsConfig limits,
    UnreadSettings unread,
    ConfigErrors errors
) : ICompiler<FormatModels>
{
    public FormatModels Compile()
    {
        foreach (var (_, config) in formats.Where(format => format.Key is ContentForms.Json or ContentForms.Xml))
            errors.Add(
                "ESB-CFG-NAME",
                config.Path,
                "the names json and xml stand for JSON and XML themselves; expected another",
                config.Origin
            );
        return new FormatModels(
            formats.ToDictionary(format => format.Key, format => Compile(format.Key, format.Value, errors, limits.MaxBodySize.Bytes)),
            unread.IsSound("formats")
        );
    }

    /// <summary>Compiles one format; null after an error, or if its settings could not be read.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="config">The settings.</param>
    /// <param name="errors">Receives the errors.</param>
    /// <param name="maxItem">The longest item of a stream, in bytes.</param>
    public static IMessageFormat? Compile(string name, FormatConfig config, ConfigErrors errors, long maxItem = long.MaxValue) =>
        config switch
        {
            { IsWhole: false } => null,
            CsvFormatConfig csv => CsvCompiler.Compile(name, csv, errors),
            FlatFormatConfig flat => FlatCompiler.Compile(name, flat, maxItem, errors),
            JsonLinesFormatConfig lines => new JsonLinesFormat(name, lines),
            _ => throw new NotSupportedException($"{config.GetType()} is no format."),
        };
}
