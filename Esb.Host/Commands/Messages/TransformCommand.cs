using System.CommandLine;
using System.Text;
using Esb.Content.Lookups;
using Esb.Content.Transforms;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Host.Composition;

namespace Esb.Host.Commands.Messages;

/// <summary><c>esb transform MAP FILE [--param name=value] [--input name=file] [--config config] [--output file]</c></summary>
internal sealed class TransformCommand : Command
{
    private readonly Argument<string> _map = new("map")
    {
        Description = "A stylesheet, JavaScript module or Liquid template; with --config, the name of a map.",
    };
    private readonly Argument<string> _file = new("file") { Description = "The document to transform." };
    private readonly Option<string[]> _parameters = new Option<string[]>("--param")
    {
        Description = "A value for a parameter of the map, as NAME=VALUE.",
    }.AsPairs();
    private readonly Option<string[]> _inputs = new Option<string[]>("--input")
    {
        Description = "A further document, as NAME=FILE.",
    }.AsPairs();
    private readonly Option<string?> _config = new("--config")
    {
        Description = "The configuration that the map is of: a file, or a folder with esb.json and *.esb.json.",
    };
    private readonly Option<string?> _output = new("--output")
    {
        Description = "Where to write the result, byte for byte; by default it is shown.",
    };

    public TransformCommand(CommandContext context)
        : base("transform", "Tries a map on a document; needs no running host.")
    {
        Add(_map);
        Add(_file);
        Add(_parameters);
        Add(_inputs);
        Add(_config);
        Add(_output);
        SetAction((result, cancellationToken) => TransformAsync(result, context, cancellationToken));
    }

    private async Task<int> TransformAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var file = result.GetRequiredValue(_file);
        var input = new MessageContext(
            EsbMessage.Create(MessageBody.FromBytes(await CommandFiles.ReadAsync(file, cancellationToken)), context.Time),
            "esb transform"
        );
        var arguments = await ReadArgumentsAsync(result, cancellationToken);
        if (result.GetValue(_config) is not { } config)
            return await WriteAsync(
                Apply(Open(result.GetRequiredValue(_map), context), Call(input, context), arguments, file),
                result,
                context,
                cancellationToken
            );

        var bus = BusServices.Compile(config, context.Variables, context.Services());
        var name = result.GetRequiredValue(_map);
        var map =
            bus.Get<MapModels>().Find(name)
            ?? throw new CommandException(ExitCode.Usage, "ESB-CLI-MAP", $"The configuration has no map '{name}'.");
        var call = Call(input, context) with { Lookup = bus.Get<LookupModels>().ForMaps };
        return await WriteAsync(Apply(map, call, arguments, file), result, context, cancellationToken);
    }

    private async Task<MapArgument[]> ReadArgumentsAsync(ParseResult result, CancellationToken cancellationToken)
    {
        var arguments = new List<MapArgument>();
        foreach (var (name, value) in Pairs(result.GetValue(_parameters)))
            arguments.Add(new MapArgument(name, value));
        foreach (var (name, file) in Pairs(result.GetValue(_inputs)))
            arguments.Add(new MapArgument(name, MessageBody.FromBytes(await CommandFiles.ReadAsync(file, cancellationToken))));
        return [.. arguments];
    }

    private static IEnumerable<(string Name, string Value)> Pairs(string[]? pairs) =>
        (pairs ?? []).Select(pair => pair.Split('=', 2)).Select(parts => (parts[0], parts[1]));

    private static MapCall Call(MessageContext input, CommandContext context) => new(input) { Log = context.Error.WriteLine };

    private static IMessageMap Open(string path, CommandContext context)
    {
        try
        {
            return MapFile.Open(path, context.Time);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            var reason = ex is FileNotFoundException or DirectoryNotFoundException
                ? "there is no such file; a map of a configuration needs --config"
                : ex.Message.TrimEnd('.');
            throw new CommandException(ExitCode.Usage, "ESB-CLI-FILE", $"The map {path} cannot be read: {reason}.");
        }
    }

    private static MappedBody Apply(IMessageMap map, MapCall input, MapArgument[] arguments, string file)
    {
        var known = map.Parameters.Select(parameter => parameter.Name).ToList();
        if (!map.TakesAnyArgument && arguments.FirstOrDefault(argument => !known.Contains(argument.Name)) is { Name: { } unknown })
            throw new CommandException(
                ExitCode.Usage,
                "ESB-XSL-PARAM",
                $"The map {map.Name} has no parameter '{unknown}'; "
                    + $"{(known.Count == 0 ? "it has none" : $"it has {string.Join(", ", known)}")}."
            );
        try
        {
            return map.Transform(input, arguments);
        }
        catch (EsbException ex)
        {
            throw new CommandException(ex.Code == "ESB-XSL-PARAM" ? ExitCode.Usage : ExitCode.Failed, ex.Code, $"{file}: {ex.Message}");
        }
    }

    private async Task<int> WriteAsync(MappedBody made, ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        if (result.GetValue(_output) is { } file)
            await CommandFiles.WriteAsync(file, made.Body.Bytes.ToArray(), cancellationToken);
        else
            context.Output.WriteLine(EncodingOf(made.ContentType).GetString(made.Body.Bytes.Span));
        return ExitCode.Done;
    }

    private static Encoding EncodingOf(string contentType) =>
        contentType.LastIndexOf("charset=", StringComparison.Ordinal) is var start and >= 0
            ? Encoding.GetEncoding(contentType[(start + "charset=".Length)..])
            : Encoding.UTF8;
}
