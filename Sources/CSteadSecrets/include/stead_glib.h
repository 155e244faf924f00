#ifndef STEAD_GLIB_H
#define STEAD_GLIB_H

#include <stddef.h>
#include <stdint.h>

// What GLib's functions are given and give back, laid out as GLib lays it out, for a program that finds
// these functions while it runs and is built without GLib's headers. All of it is part of GLib's
// binary interface since 2.0.

// GError
typedef struct stead_g_error {
  uint32_t domain;
  int code;
  char *message;
} stead_g_error;

// GValue: the number of a type, and a value of that type.
typedef struct stead_g_value {
  size_t type;
  uint64_t data[2];
} stead_g_value;

// GTypeQuery
typedef struct stead_g_type_query {
  size_t type;
  const char *name;
  unsigned int class_size;
  unsigned int instance_size;
} stead_g_type_query;

// The beginning of GParamSpec.
typedef struct stead_g_param_spec {
  void *type;
  const char *name;
} stead_g_param_spec;

// GObjectConstructParam
typedef struct stead_g_property {
  const stead_g_param_spec *spec;
  const stead_g_value *value;
} stead_g_property;

// The beginning of GObjectClass.
typedef struct stead_g_object_class {
  size_t type;
  void *construct_properties;
  void *(*constructor)(size_t type, unsigned int count, const stead_g_property *properties);
} stead_g_object_class;

#endif
