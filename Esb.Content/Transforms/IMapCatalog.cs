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

    /// <summary>The parameters that it accepts. Constant while the configuration runs, even if its file changes.</summary>
    IReadOnlyList<MapParameter> Parameters { get; }

    /// <summary>The kind of its output, from <c>xsl:output</c>.</summary>
    MadeKind Makes { get; }

    /// <summary>Transforms a buffered body, whatever its content type says.</summary>
    /// <param name="input">The message's body: the document that the map begins at.</param>
    /// <param name="arguments">Values for parameters, each name once.</param>
    /// <exception cref="EsbException">
    /// <c>ESB-XSL-PARAM</c>: a parameter that it needs is missing; <c>ESB-XSL-FAILED</c>, <c>ESB-XSL-TERMINATED</c>, <c>ESB-XSL-DEPTH</c>,
    /// <c>ESB-XSL-TIMEOUT</c>, <c>ESB-XSL-EXTENSION</c> or <c>ESB-XSL-OUTPUT</c>: the map could not make anything of it (422);
    /// <c>ESB-XML-…</c>: it, or another document, cannot be read as XML at all (400).
    /// </exception>
    MappedBody Transform(MessageBody input, params ReadOnlySpan<MapArgument> arguments);
}
