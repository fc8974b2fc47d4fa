namespace Esb.Content.Transforms.Scripts;

/// <summary>A script exceeded a limit. Not a JavaScript exception, so that a script cannot catch it.</summary>
internal sealed class ScriptLimitException(string what) : Exception(what);
