using System.Text;
using System.Xml;
using System.Xml.XPath;
using System.Xml.Xsl;
using Esb.Content.Expressions;
using Esb.Content.Transforms.Streaming;
using Esb.Content.Xml;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Content.Transforms;

/// <summary>A compiled XSLT 1.0 stylesheet. Its output is what <c>xsl:output</c> says, in UTF-8 without a byte order mark.</summary>
internal sealed class XsltMap : IMessageMap
{
    private const int LongestText = 500;

    private readonly XslCompiledTransform _transform;
    private readonly StreamedMap? _streamed;
    private readonly bool _stripsSpace;
    private readonly bool _sweeps;
    private readonly XmlWriterSettings _output;
    private readonly string _contentType;
    private readonly MapArguments _arguments;
    private readonly XmlInput _xml;
    private readonly TransformLimits _limits;
    private readonly TimeProvider _time;
    private readonly MadeKind _kind;

    /// <exception cref="MapFileException">The stylesheet has an error.</exception>
    public XsltMap(string name, StylesheetFiles stylesheet, StylesheetCache cache, XmlInput xml, TransformLimits limits, TimeProvider time)
    {
        Name = name;
        _streamed = StreamedCompiler.TryCompile(stylesheet) is { } streamed ? new StreamedMap(streamed, xml, limits, time) : null;
        _transform = cache.Compile(stylesheet);
        _stripsSpace = stylesheet.StripsSpace;
        _sweeps = stylesheet.Sweeps;
        _xml = xml;
        _limits = limits;
        _time = time;
        _output = _transform.OutputSettings!.Clone();
        if (_output.Encoding is UTF8Encoding)
            _output.Encoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false);
        _kind = KindOf(_output.OutputMethod, stylesheet.MediaType);
        _contentType = $"{stylesheet.MediaType ?? DefaultMediaType(_output.OutputMethod)}; charset={_output.Encoding.WebName}";
        Parameters = stylesheet.Parameters;
        _arguments = new MapArguments(name, Parameters, xml);
    }

    public string Name { get; }

    public IReadOnlyList<MapParameter> Parameters { get; }

    public MadeKind? Makes => _kind;

    public MappedBody Transform(MessageBody input, params ReadOnlySpan<MapArgument> arguments)
    {
        if (TryStream(input.Bytes) is { } made)
            return new MappedBody(MessageBody.FromBytes(made), _contentType, _kind);
        return ByTheEngine(input, arguments);
    }

    private byte[]? TryStream(ReadOnlyMemory<byte> document)
    {
        try
        {
            return _streamed?.TryTransform(document);
        }
        catch (EsbException ex) when (ex.Code == EvaluationTime.Code)
        {
            throw TookTooLong(ex);
        }
    }

    /// <summary>The same without streaming.</summary>
    internal MappedBody ByTheEngine(MessageBody input, ReadOnlySpan<MapArgument> arguments = default)
    {
        var output = new BoundedOutput((int)Math.Min(input.Bytes.Length + 256, _limits.OutputBytes), _limits.OutputBytes);
        var told = new XsltArgumentList();
        _arguments.Add(arguments, told);
        told.AddExtensionObject(RecursionGuard.Namespace, new RecursionGuard(_time, _limits.Time));
        var said = "";
        told.XsltMessageEncountered += (_, message) => said = message.Message; // without a listener they go to the console
        try
        {
            var writer = XmlWriter.Create(output, _output); // disposed only when complete: half an output is not to be closed, but dropped
            Run(input, told, writer);
            writer.Dispose();
        }
        catch (EsbException ex) when (ex.Code == EvaluationTime.Code)
        {
            throw TookTooLong(ex);
        }
        catch (Exception ex) when (ex is XsltException or XPathException or XmlException or ArgumentException or InvalidOperationException)
        {
            throw Explain(ex, said);
        }

        return new MappedBody(MessageBody.FromBytes(output.GetBuffer().AsMemory(0, (int)output.Length)), _contentType, _kind);
    }

    private void Run(MessageBody input, XsltArgumentList arguments, XmlWriter writer)
    {
        if (!_stripsSpace)
        {
            var document = _xml.Navigate(input); // what a condition has parsed is parsed
            _transform.Transform(
                _sweeps ? new TimedNavigator(document, new EvaluationTime(_time, _limits.Time)) : document,
                arguments,
                writer
            );
            return;
        }

        using var reader = _xml.Read(input.Bytes);
        _transform.Transform(reader, arguments, writer);
    }

    private EsbException Explain(Exception error, string said) =>
        error switch
        {
            { InnerException: EsbException { Code: EvaluationTime.Code } } => TookTooLong(error),
            { InnerException: EsbException inner } => inner,
            { InnerException: InsufficientExecutionStackException } => Fault("ESB-XSL-DEPTH", "recurses too deep", error),
            { InnerException: TimeoutException } => TookTooLong(error),
            XsltException when error.Message.StartsWith("Cannot find a script or an extension object", StringComparison.Ordinal) => Fault(
                "ESB-XSL-EXTENSION",
                $"failed: {Clip(error.Message)}",
                error
            ),
            XsltException when error.Message == said => Fault("ESB-XSL-TERMINATED", $"refused the message: {Clip(said)}", error),
            _ => Fault("ESB-XSL-FAILED", $"failed: {Clip(error.Message)}", error),
        };

    private EsbException TookTooLong(Exception error) =>
        Fault("ESB-XSL-TIMEOUT", $"took longer than {_limits.Time.TotalSeconds:0.###} s", error);

    private EsbException Fault(string code, string what, Exception error) =>
        new(code, $"The map {Name} {what.TrimEnd('.')}.", FaultKind.Invalid, error);

    private static string Clip(string text) => MaskedFlow.Excerpt(text, LongestText);

    private static MadeKind KindOf(XmlOutputMethod method, string? mediaType) =>
        method switch
        {
            XmlOutputMethod.Html => MadeKind.Html,
            XmlOutputMethod.Text when mediaType?.EndsWith("json", StringComparison.OrdinalIgnoreCase) == true => MadeKind.Json,
            XmlOutputMethod.Text when mediaType?.EndsWith("xml", StringComparison.OrdinalIgnoreCase) == true => MadeKind.Xml,
            XmlOutputMethod.Text => MadeKind.Text,
            _ => MadeKind.Xml,
        };

    private static string DefaultMediaType(XmlOutputMethod method) =>
        method switch
        {
            XmlOutputMethod.Html => "text/html",
            XmlOutputMethod.Text => "text/plain",
            _ => "application/xml",
        };
}
