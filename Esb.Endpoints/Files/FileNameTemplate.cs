using System.Text;
using System.Text.RegularExpressions;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Endpoints.Files;

/// <summary>The compiled template of file names. Immutable and thread-safe.</summary>
internal sealed partial class FileNameTemplate
{
    private readonly string _endpoint;
    private readonly List<Part> _parts;

    private FileNameTemplate(string endpoint, List<Part> parts)
    {
        _endpoint = endpoint;
        _parts = parts;
        ReadsBody = parts.Any(part => part.Value?.ReadsBody == true);
    }

    /// <summary>True if the file name requires the buffered body of the message.</summary>
    public bool ReadsBody { get; }

    /// <summary>Compiles the template; null after an error. Its fixed text must be a safe name, whatever values the messages
    /// supply.</summary>
    public static FileNameTemplate? Compile(
        OutboundEndpointConfig config,
        string template,
        IExpressionCompiler compiler,
        ConfigErrors errors
    )
    {
        if (!config.IsSound("fileName"))
            return null; // reported already
        var known = errors.All.Count;
        var path = $"{config.Path}.fileName";
        if (compiler.CompileTemplate(template, path, config.Origin, errors) is null)
            return null;

        var parts = new List<Part>();
        foreach (Match match in Pieces().Matches(template))
        {
            // Each placeholder is compiled separately, so that a missing value is detected.
            var isPlace = match.Groups["place"].Success;
            parts.Add(new Part(match.Value, isPlace ? compiler.CompileTemplate(match.Value, path, config.Origin, errors) : null));
        }

        var sample = string.Concat(parts.Select(part => part.Value is null ? part.Literal : "x"));
        if (SafeFileName.WhatIsWrong(sample) is { } wrong)
            errors.Add("ESB-FILE-NAME", config, "fileName", wrong);
        return errors.All.Count > known ? null : new FileNameTemplate(config.Name, parts);
    }

    /// <summary>Returns the file name for a message.</summary>
    /// <exception cref="EndpointException"><c>ESB-FILE-NAME</c>: the result is not a plain, safe file name.</exception>
    public string Evaluate(MessageContext context)
    {
        var name = new StringBuilder();
        foreach (var part in _parts)
        {
            if (part.Value is null)
                name.Append(part.Literal);
            else if (MessageValues.AsText(part.Value.Evaluate(context)) is { Length: > 0 } value)
                name.Append(value);
            else
                throw Refused($"The file name of the endpoint '{_endpoint}' has no value for {part.Text}.");
        }

        var whole = name.ToString();
        return SafeFileName.WhatIsWrong(whole) is { } wrong
            ? throw Refused($"The file name '{Clip(SafeFileName.Escape(MaskedFlow.Clean(whole)))}' {wrong}.")
            : whole;
    }

    private EndpointException Refused(string sentence) =>
        new(_endpoint, "ESB-FILE-NAME", sentence, isTransient: false, kind: FaultKind.Invalid) { IsUnsent = true };

    private static string Clip(string text) => text.Length <= 80 ? text : text[..79] + "…";

    [GeneratedRegex(@"\{\{|\}\}|(?<place>\{[^{}]*\})|[^{}]+|[{}]")]
    private static partial Regex Pieces();

    private sealed record Part(string Text, IMessageValue? Value)
    {
        public string Literal => Text is "{{" or "}}" ? Text[..1] : Text;
    }
}
