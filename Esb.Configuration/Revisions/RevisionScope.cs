using Esb.Configuration.Compiling;

namespace Esb.Configuration.Revisions;

/// <summary>Identifies the revision that a service scope belongs to.</summary>
internal sealed class RevisionScope
{
    private BusModel? _model;

    /// <summary>The compiled configuration of the scope.</summary>
    /// <exception cref="InvalidOperationException">A service of a revision was requested without a revision in scope.</exception>
    public BusModel Model
    {
        get =>
            _model
            ?? throw new InvalidOperationException("Models belong to a revision; what lives as long as the process asks for Live<T>.");
        set => _model = value;
    }
}
