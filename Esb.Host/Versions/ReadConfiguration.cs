using Esb.Configuration.Compiling;
using Esb.Core.Storage;

namespace Esb.Host.Versions;

/// <summary>A configuration that was read and compiled, to be put into service.</summary>
/// <param name="Model">What was compiled.</param>
/// <param name="Files">The folder of this host, or the only file in it, in which it stands as a version; null for the files of the
/// host.</param>
/// <param name="Content">Its content; null if it has not been read as a whole.</param>
/// <param name="Number">The number of the version; null if it is none yet.</param>
internal sealed record ReadConfiguration(BusModel Model, string? Files = null, ConfigurationContent? Content = null, long? Number = null);
