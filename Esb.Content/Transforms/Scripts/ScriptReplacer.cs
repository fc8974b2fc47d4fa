using Jint;
using Jint.Native;
using Jint.Native.Function;
using Jint.Native.Object;
using Jint.Runtime;
using Jint.Runtime.Interop;

namespace Esb.Content.Transforms.Scripts;

/// <summary>Makes <c>JSON.stringify</c> measure the stack at each value: it descends into nested values without running a
/// statement.</summary>
internal static class ScriptReplacer
{
    /// <summary>A replacer that does what the given one does, which may be a function, a list of names or nothing.</summary>
    public static JsValue Guard(Engine engine, JsValue replacer)
    {
        var names = replacer.IsArray() ? NamesOf((ObjectInstance)replacer) : null;
        var function = replacer as Function;
        return new ClrFunction(
            engine,
            "",
            (holder, arguments) =>
            {
                ScriptBudget.CheckStack();
                if (function is not null)
                    return function.Call(holder, arguments);
                return
                    names is null
                    || holder.IsArray()
                    || arguments.At(0) is JsString { Length: 0 }
                    || names.Contains(arguments.At(0).ToString())
                    ? arguments.At(1)
                    : JsValue.Undefined;
            }
        );
    }

    private static HashSet<string> NamesOf(ObjectInstance list)
    {
        var names = new HashSet<string>();
        var count = TypeConverter.ToNumber(list.Get("length"));
        for (var i = 0; i < count; i++)
            names.Add(list.Get(JsNumber.Create(i)).ToString());
        return names;
    }
}
