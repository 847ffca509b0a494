/* Default values of columns, parsed from the plan. */
#include "plan.h"

static int refused(const char *what)
{
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, what);
    return -1;
}

static int uuid_default(Arena *arena, const char *digits, Field *field)
{
    uint8_t bytes[16] = {0};
    if (strlen(digits) != 32) return refused("the default of a uuid field must be 32 hex digits");
    for (int i = 0; i < 32; i++) {
        int digit = hex(digits[i]);
        if (digit < 0) return refused("the default of a uuid field must be 32 hex digits");
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | digit);
    }
    uint8_t *to = get_from(arena, 23);
    if (to == NULL) return -1;
    uuid_text(to, bytes);
    field->text = (const char *)to;
    field->text_size = 22;
    return 0;
}

static int number_default(const TextField *from, Field *field)
{
    char *end = NULL;
    if (strlen(from->word) != (size_t)from->word_size) return refused("a default is not a number");
    if (from->kind == KIND_FLOAT64) {
        double value = PyOS_string_to_double(from->word, NULL, NULL);
        if (value == -1.0 && PyErr_Occurred()) return -1;
        memcpy(&field->bits, &value, 8);
        return 0;
    }
    PyObject *value = PyLong_FromString(from->word, &end, 10);
    if (value == NULL) return -1;
    field->bits = PyLong_AsLongLong(value);
    Py_DECREF(value);
    return (field->bits == -1 && PyErr_Occurred()) || *end != 0 ? refused("a default is not a number") : 0;
}

int make_default(Arena *arena, const TextField *from, Field *field)
{
    static const char zeros[] = "00000000000000000000000000000000";
    if (from->is_null || from->is_array || from->kind == KIND_BYTES) return 0;
    if (from->kind == KIND_UUID) return uuid_default(arena, from->word == NULL ? zeros : from->word, field);
    if (from->word == NULL) return 0;
    if (from->kind != KIND_STRING) return number_default(from, field);
    field->text_size = from->word_size;
    if ((field->text = get_from(arena, from->word_size + 1)) == NULL) return -1;
    memcpy((char *)field->text, from->word, (size_t)from->word_size);
    return 0;
}
