using Esb.Configuration;
using Esb.Core.Storage;
using Esb.Storage;
using Esb.Storage.Archives;

namespace Esb.Host.Composition;

/// <summary>The store of a configuration, for commands that work on it without a host.</summary>
/// <param name="Name">The name of the configuration.</param>
/// <param name="Config">The store.</param>
/// <param name="Evidence">Where its anchors are.</param>
/// <param name="Services">What a bus is made of: knows the kinds of store.</param>
internal sealed record StoreAccess(string Name, StoreConfig Config, AuditEvidenceConfig Evidence, IServiceCollection Services)
{
    /// <summary>Opens it for reading, also beside a host.</summary>
    public StoreReader Read() => StoreReader.Open(Config, Name, Evidence, Services);

    /// <summary>Opens it to write days to files, or to take them back.</summary>
    public AuditArchive OpenArchive(bool readOnly, TimeProvider time) => AuditArchive.Open(Config, Evidence, readOnly, time);
}
