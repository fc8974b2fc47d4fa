using System.Globalization;
using System.Text.Encodings.Web;
using System.Text.Unicode;
using Esb.Content.Transforms.Documents;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Fluid;
using Fluid.Values;

namespace Esb.Content.Transforms.Liquid;

/// <summary>A map in Liquid. Values are escaped by the content type of the map: HTML, XML, JSON; not at all for other text.
/// Thread-safe.</summary>
internal sealed class LiquidMap : IMessageMap
{
    private const int LongestText = 300;

    private readonly MapSettings _settings;
    private readonly DocumentInput _documents;
    private readonly TimeProvider _time;
    private readonly IFluidTemplate _template;
    private readonly TemplateOptions _options;
    private readonly TextEncoder _encoder;

    /// <exception cref="MapFileException"><c>ESB-LQD-COMPILE</c>: the template has an error.</exception>
    public LiquidMap(MapSettings settings, MapText file, DocumentInput documents, TimeProvider time)
    {
        _settings = settings;
        _documents = documents;
        _time = time;
        _template = LiquidCompiler.Compile(file, Math.Min(settings.Limits.Statements, (int)(settings.Limits.Memory.Bytes / 64)));
        _encoder = EncoderFor(settings.ContentType.Kind);
        _options = new TemplateOptions
        {
            CultureInfo = CultureInfo.InvariantCulture,
            TimeZone = TimeZoneInfo.Utc,
            Now = () => time.GetUtcNow(),
            MaxSteps = settings.Limits.Statements,
            MaxRecursion = settings.Limits.Depth,
            ModelNamesComparer = StringComparer.Ordinal,
            StrictFilters = true,
        };
        _options.Filters.AddFilter("lookup", LiquidLookup.Find);
        _options.Filters.AddFilter(
            "json",
            (input, _, context) => new StringValue(LiquidJson.Of(input, context), encode: settings.ContentType.Kind != MadeKind.Json)
        );
    }

    public string Name => _settings.Name;

    public IReadOnlyList<MapParameter> Parameters => [];

    public bool TakesAnyArgument => true;

    public MadeKind? Makes => _settings.ContentType.Kind;

    public MadeKind? Reads => null;

    public MappedBody Transform(MessageBody input, params ReadOnlySpan<MapArgument> arguments) =>
        Transform(new MapCall(new MessageContext(EsbMessage.Create(input, _time), "")), arguments);

    public MappedBody Transform(MapCall call, params ReadOnlySpan<MapArgument> arguments)
    {
        using var run = new LiquidRun(_time, _settings.Limits, _settings.OutputBytes);
        var context = ContextOf(call, arguments, run);
        try
        {
            var rendering = _template.RenderAsync(run, _encoder, context);
            if (!rendering.IsCompleted)
                throw new InvalidOperationException("The template waits, although its output and its values are in memory.");
            rendering.GetAwaiter().GetResult();
        }
        catch (LiquidLimitException ex)
        {
            throw Limit(ex.Message, ex);
        }
        catch (InvalidOperationException ex) when (ex.Message.StartsWith("The maximum level of recursion", StringComparison.Ordinal))
        {
            throw Limit($"it ran more than {_settings.Limits.Statements} steps, or deeper than {_settings.Limits.Depth} levels", ex);
        }
        catch (Exception ex)
            when (ex
                    is FluidException
                        or InvalidOperationException
                        or ArgumentException
                        or FormatException
                        or ArithmeticException
                        or InvalidCastException
            )
        {
            throw new EsbException(
                "ESB-LQD-ERROR",
                $"The map {Name} failed: {MaskedFlow.Excerpt(ex.Message.TrimEnd('.'), LongestText)}.",
                FaultKind.Internal,
                ex
            );
        }

        return new MappedBody(
            MessageBody.FromText(run.ToString()),
            _settings.ContentType.Kind == MadeKind.Json ? _settings.ContentType.OfJson : _settings.ContentType.OfText,
            _settings.ContentType.Kind
        );
    }

    private TemplateContext ContextOf(MapCall call, ReadOnlySpan<MapArgument> arguments, LiquidRun run)
    {
        var (parameters, inputs) = (new Dictionary<string, object?>(), new Dictionary<string, object?>());
        foreach (var argument in arguments)
        {
            if (argument.Value is MessageBody body)
                inputs[argument.Name] = LiquidValues.Of(_documents.Read(body));
            else
                parameters[argument.Name] = LiquidValues.Of(argument.Value);
        }

        var (message, properties) = (
            call.Context.Message,
            call.Context.Properties.ToDictionary(property => property.Key, property => LiquidValues.Of(property.Value))
        );
        var context = new TemplateContext(_options)
        {
            Assigned = (_, value, _) => ValueTask.FromResult(run.Check(value)),
            Captured = (_, value, _) => ValueTask.FromResult(run.Check(value)),
        };
        context.AmbientValues[LiquidRun.Ambient] = run;
        if (call.Lookup is { } lookup)
            context.AmbientValues[LiquidLookup.Ambient] = lookup;
        Set(context, "input", LiquidValues.Of(_documents.Read(message)));
        Set(context, "message", LiquidValues.Envelope(message, call.Context.Endpoint));
        Set(context, "headers", LiquidValues.Headers(message.Headers));
        Set(context, "properties", properties);
        Set(context, "parameters", parameters);
        Set(context, "inputs", inputs);
        return context;
    }

    private void Set(TemplateContext context, string name, object? value) => context.SetValue(name, FluidValue.Create(value, _options));

    private EsbException Limit(string what, Exception error) =>
        new("ESB-LQD-LIMIT", $"The map {Name} was ended: {what}.", FaultKind.Internal, error);

    private static TextEncoder EncoderFor(MadeKind kind) =>
        kind switch
        {
            MadeKind.Html or MadeKind.Xml => HtmlEncoder.Create(UnicodeRanges.All),
            MadeKind.Json => JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
            _ => NullEncoder.Default,
        };
}
