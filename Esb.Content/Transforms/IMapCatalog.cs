using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Content.Transforms;

/// <summary>The maps of the section <c>maps</c>, compiled. Thread-safe.</summary>
public interface IMapCatalog
{
    /// <summary>The map with this name; null if there is no such map or it could not be compiled, which the configuration check
    /// reports.</summary>
    IMessageMap? Find(string name);
}

/// <summary>A compiled map (Message Translator). Thread-safe; when its file changes, runs that begin later use the new one, and each run
/// uses one only.</summary>
public interface IMessageMap
{
    /// <summary>Its name in the configuration.</summary>
    string Name { get; }

    /// <summary>The parameters that it declares. Constant while the configuration runs, even if its file changes.</summary>
    IReadOnlyList<MapParameter> Parameters { get; }

    /// <summary>True if it declares no parameters, and accepts any parameter and any input.</summary>
    bool TakesAnyArgument => false;

    /// <summary>The kind of its output, from <c>xsl:output</c> or the map's content type; null if each message decides.</summary>
    MadeKind? Makes { get; }

    /// <summary>The kind of document that it reads; null if it accepts any body.</summary>
    MadeKind? Reads => MadeKind.Xml;

    /// <summary>Transforms a buffered body, whatever its content type says.</summary>
    /// <param name="input">The message's body: the document that the map begins at.</param>
    /// <param name="arguments">Values for parameters, each name once.</param>
    /// <exception cref="EsbException">
    /// <c>ESB-XSL-PARAM</c>: a parameter that it needs is missing; <c>ESB-XSL-FAILED</c>, <c>ESB-XSL-TERMINATED</c>, <c>ESB-XSL-DEPTH</c>,
    /// <c>ESB-XSL-TIMEOUT</c>, <c>ESB-XSL-EXTENSION</c> or <c>ESB-XSL-OUTPUT</c>: the map could not make anything of it (422);
    /// <c>ESB-JS-ERROR</c>, <c>ESB-JS-LIMIT</c>, <c>ESB-JS-RESULT</c>, <c>ESB-LQD-ERROR</c>, <c>ESB-LQD-LIMIT</c>: the map failed (500);
    /// <c>ESB-XML-…</c>, <c>ESB-JSON-…</c>: the body, or another document, cannot be read at all (400).
    /// </exception>
    MappedBody Transform(MessageBody input, params ReadOnlySpan<MapArgument> arguments);

    /// <summary>Transforms the body of a message, whose envelope and properties the map may read.</summary>
    /// <param name="call">The message.</param>
    /// <param name="arguments">Values for parameters, each name once.</param>
    /// <exception cref="EsbException">As of the other overload; or the failure that the map asked for.</exception>
    MappedBody Transform(MapCall call, params ReadOnlySpan<MapArgument> arguments) => Transform(call.Context.Message.Body, arguments);

    /// <summary>Transforms the body of a message. A map of a running bus can also look up entries of databases, which are read
    /// meanwhile.</summary>
    /// <param name="call">The message.</param>
    /// <param name="arguments">Values for parameters, each name once.</param>
    /// <param name="cancellationToken">Cancels queries.</param>
    /// <exception cref="EsbException">As of the other overloads; or <c>ESB-SQL-…</c> and <c>ESB-LOOKUP-LIMIT</c>.</exception>
    ValueTask<MappedBody> TransformAsync(MapCall call, MapArgument[] arguments, CancellationToken cancellationToken) =>
        ValueTask.FromResult(Transform(call, arguments));
}

/// <summary>A map whose result can also name the parts of a message that change. Thread-safe.</summary>
public interface IScriptMap : IMessageMap
{
    /// <summary>Runs the map; its result says what changes.</summary>
    /// <param name="call">The message.</param>
    /// <param name="arguments">Values for parameters, each name once.</param>
    /// <exception cref="EsbException"><c>ESB-JS-…</c>; or the failure that the map asked for.</exception>
    MessageChanges Change(MapCall call, params ReadOnlySpan<MapArgument> arguments);

    /// <summary>As <see cref="Change"/>, also with entries of databases.</summary>
    /// <param name="call">The message.</param>
    /// <param name="arguments">Values for parameters, each name once.</param>
    /// <param name="cancellationToken">Cancels queries.</param>
    /// <exception cref="EsbException">As of <see cref="IMessageMap.TransformAsync"/>.</exception>
    ValueTask<MessageChanges> ChangeAsync(MapCall call, MapArgument[] arguments, CancellationToken cancellationToken) =>
        ValueTask.FromResult(Change(call, arguments));
}
