using Esb.Configuration.Compiling;

namespace Esb.Configuration.Revisions;

/// <summary>Whose scope a service lives in.</summary>
internal sealed class RevisionScope
{
    private BusModel? _model;

    /// <summary>The compiled configuration of the scope.</summary>
    /// <exception cref="InvalidOperationException">A service of a revision was asked for outside of one.</exception>
    public BusModel Model
    {
        get => _model ?? throw new InvalidOperationException("Models belong to a revision; what lives as long as the process asks for Live<T>.");
        set => _model = value;
    }
}
