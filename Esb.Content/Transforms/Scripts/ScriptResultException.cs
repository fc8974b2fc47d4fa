namespace Esb.Content.Transforms.Scripts;

/// <summary>The result of a script cannot be used.</summary>
/// <param name="what">What is wrong, after "its result".</param>
/// <param name="inner">The cause.</param>
internal sealed class ScriptResultException(string what, Exception? inner = null) : Exception(what, inner);
