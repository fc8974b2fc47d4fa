using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Workflows;

namespace Esb.Host.Composition;

/// <inheritdoc cref="IPinnedDefinitions"/>
/// <remarks>Files of maps and schemas are written into the folder of the store, under the hash of the definition.</remarks>
internal sealed class PinnedDefinitions(ConfigurationSource source, LiveRevisions revisions, StoreConfig store) : IPinnedDefinitions
{
    private readonly DefinitionCompiler _compiler = new(source);

    public IServiceProvider Open(StoredDefinition definition)
    {
        try
        {
            var folder = Directory
                .CreateDirectory(Path.Combine(Path.GetFullPath(store.Folder), "workflows", definition.Hash[..16]))
                .FullName;
            return revisions.Keep(_compiler.Compile(definition, ModelOf(revisions.Current.Services), folder)).Services;
        }
        catch (ConfigurationRefusedException ex)
        {
            throw Refused(definition, DefinitionCompiler.Summary(ex), ex);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw Refused(definition, "its files cannot be written", ex);
        }
    }

    public string? FindObstacle(StoredDefinition definition, IServiceProvider next) => _compiler.FindObstacle(definition, ModelOf(next));

    private static BusModel ModelOf(IServiceProvider services) => services.GetRequiredService<BusModel>();

    private static EsbException Refused(StoredDefinition definition, string reason, Exception inner) =>
        new(
            "ESB-WFL-VERSION",
            $"The definition {definition.Hash[..12]} of '{definition.Workflow}' does not compile any more: {reason}",
            FaultKind.Internal,
            inner
        );
}
