using Esb.Configuration;
using Esb.Core.Storage;
using Esb.Storage;
using Esb.Storage.Archives;

namespace Esb.Host.Composition;

/// <summary>The store of a configuration, for commands that use it without a host.</summary>
/// <param name="Name">The name of the configuration.</param>
/// <param name="Config">The store.</param>
/// <param name="Evidence">The location of its anchors.</param>
/// <param name="Services">The service registrations of a bus, which include the store types.</param>
internal sealed record StoreAccess(string Name, StoreConfig Config, AuditEvidenceConfig Evidence, IServiceCollection Services)
{
    /// <summary>Opens the store for reading, even while a host uses it.</summary>
    /// <param name="takesEarlier">True to read also what an earlier version of the program keeps, before an upgrade.</param>
    public StoreReader Read(bool takesEarlier = false) => StoreReader.Open(Config, Name, Evidence, Services, takesEarlier);

    /// <summary>Opens the store to archive days to files, or to restore them.</summary>
    public AuditArchive OpenArchive(bool readOnly, TimeProvider time) => AuditArchive.Open(Config, Evidence, readOnly, time);
}
