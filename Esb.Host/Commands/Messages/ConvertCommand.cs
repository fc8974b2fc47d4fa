using System.CommandLine;
using System.Text;
using Esb.Content;
using Esb.Content.Formats.Conversion;
using Esb.Content.Schemas;
using Esb.Content.Schemas.Json;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Host.Composition;

namespace Esb.Host.Commands.Messages;

/// <summary><c>esb convert FILE --to form [--from form] [--config config] [--array name] [--types schema] [--root name]
/// [--output file]</c></summary>
internal sealed class ConvertCommand : Command
{
    private readonly Argument<string> _file = new("file") { Description = "The document to convert." };
    private readonly Option<string?> _from = new("--from")
    {
        Description =
            "What it is: json, xml, or a format; without --config also csv and json-lines. By default its name decides, or its first byte.",
    };
    private readonly Option<string> _to = new("--to") { Description = "What to make of it: json, xml, or a format.", Required = true };
    private readonly Option<string?> _config = new("--config")
    {
        Description = "The configuration that the formats are of: a file, or a folder with *.json.",
    };
    private readonly Option<string[]> _arrays = new("--array")
    {
        Description = "From XML to JSON: the name of an element that is an array even if it occurs once.",
    };
    private readonly Option<string?> _types = new("--types")
    {
        Description = "From XML to JSON: a JSON Schema or XML Schema of --config; its types make numbers, booleans and arrays of texts.",
    };
    private readonly Option<string?> _root = new("--root") { Description = "The root element of XML." };
    private readonly Option<string?> _output = new("--output")
    {
        Description = "Where to write the result, byte for byte; by default it is shown.",
    };

    public ConvertCommand(CommandContext context)
        : base("convert", "Converts a document between JSON, XML and formats; needs no running host.")
    {
        Add(_file);
        Add(_from);
        Add(_to);
        Add(_config);
        Add(_arrays);
        Add(_types);
        Add(_root);
        Add(_output);
        SetAction((result, cancellationToken) => ConvertAsync(result, context, cancellationToken));
    }

    private async Task<int> ConvertAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var file = result.GetRequiredValue(_file);
        var body = MessageBody.FromBytes(await CommandFiles.ReadAsync(file, cancellationToken));
        var bus = result.GetValue(_config) is { } config ? BusServices.Compile(config, context.Variables, context.Services()) : null;
        var options = new ConversionOptions
        {
            Arrays = (result.GetValue(_arrays) ?? []).ToHashSet(),
            Types = result.GetValue(_types) is { } schema ? TypesOf(schema, bus?.Get<SchemaModels>()) : null,
            Root = result.GetValue(_root),
        };
        var made = Convert(bus?.Get<ContentConverter>() ?? ContentConverter.WithoutConfiguration(), body, file, result, options);
        if (result.GetValue(_output) is { } output)
            await CommandFiles.WriteAsync(output, made.Body.Bytes.ToArray(), cancellationToken);
        else
            context.Output.Write(TextOf(made));
        return ExitCode.Done;
    }

    private static ValueTypes TypesOf(string schema, SchemaModels? schemas) =>
        schemas?.Find(schema)?.Types
        ?? throw new CommandException(ExitCode.Usage, "ESB-CLI-SCHEMA", $"There is no schema '{schema}' in the configuration.");

    private ConvertedBody Convert(ContentConverter converter, MessageBody body, string file, ParseResult result, ConversionOptions options)
    {
        try
        {
            var from = result.GetValue(_from) ?? converter.FormOf(body, CommandFiles.ContentTypeOf(file));
            var to = result.GetRequiredValue(_to);
            foreach (var form in new[] { from, to }.Where(form => !converter.Knows(form)))
                throw new CommandException(
                    ExitCode.Usage,
                    "ESB-CLI-FORMAT",
                    $"There is no format '{form}'; expected one of {string.Join(", ", converter.Forms)}."
                );
            return converter.Convert(body, from, to, options);
        }
        catch (EsbException ex)
        {
            throw new CommandException(ExitCode.Failed, ex.Code, $"{file}: {ex.Message}");
        }
    }

    private static string TextOf(ConvertedBody made)
    {
        var charset = made.ContentType.Contains('=', StringComparison.Ordinal)
            ? made.ContentType[(made.ContentType.LastIndexOf('=') + 1)..]
            : "utf-8";
        var text = Charsets.Find(charset)!.GetString(made.Body.Bytes.Span);
        return text.EndsWith('\n') ? text : text + Environment.NewLine;
    }
}
