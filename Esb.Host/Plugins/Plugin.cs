using Esb.Configuration;

namespace Esb.Host.Plugins;

/// <summary>A loaded plug-in.</summary>
/// <param name="Name">The name of its folder and its assembly.</param>
/// <param name="Version">The version of its assembly.</param>
/// <param name="File">Its assembly.</param>
/// <param name="Entry">The class that registers its services.</param>
internal sealed record Plugin(string Name, string Version, string File, IEsbPlugin Entry);
